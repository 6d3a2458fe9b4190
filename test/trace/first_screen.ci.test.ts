/** The first screen of a recorded job of many ranks that wait alike. */

import path from 'node:path';
import { expect, it } from 'vitest';
import { record } from '../support/jobs/loopback.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { partsOf, screenOf } from './first_screen.js';

const folder = folderOfFile();

it('31 ranks that wait alike: the two to look at are right below the verdict, open; the others follow, closed', async () => {
  // They have to wait for more than the second of hungAfter, on a busy machine too.
  const faults = '--fault skip:13@2 --hang-seconds 5';
  const { folder: run, code } = await record(
    path.join(folder, 'waiting'),
    `--ranks 32 --channels 1 --iterations 3 --ops allreduce:64K ${faults}`,
    { NCCL_TRACE_RING_MB: '0.25' },
  );
  expect(code).toBe(4);
  const { groups, pins } = partsOf(await screenOf(folder, 'waiting', run));
  expect(groups.slice(0, 3)).toEqual([
    '> Cluster: HUNG, rank 13',
    'v rank 0013 · gpu13 · NOT CALLED',
    expect.stringMatching(/^v rank 001[24] · .* · STUCK$/),
  ]);
  // The ranks that only wait are closed and in their order: one line of the picture.
  expect(groups.slice(3)).toEqual([
    expect.stringMatching(/^> rank 0000 · .*gpu0 and 29 more, to rank 0031 · .*gpu31$/),
  ]);
  expect(pins.filter((name) => name.startsWith('rank ')).length).toBeLessThanOrEqual(4);
});
