/** Right after a crash the verdict depends on which processes are alive. merge says why it waits, and the verdict does not depend on the moment. */

import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { merge } from '../../src/merge.js';
import { scanFile } from '../../src/scan/scan.js';
import { record } from '../support/jobs/loopback.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();
afterEach(() => {
  vi.useRealTimers();
});

/** Rank 1 has written a heartbeat when it is killed in a collective; rank 0 aborts and leaves in order, before anything was stuck for a second. */
const recorded = record(
  path.join(folder, 'job'),
  '--ranks 2 --settle 300 --ops allreduce:256K --iterations 4 --fault kill:1@2 --hang-seconds 0.3 --hang-signal ABORT',
);

/** Read so many ms after the newest heartbeat of the rank that was killed. */
async function mergedAt(ms: number): Promise<{ told: string[]; kind: string }> {
  const { folder: recording } = await recorded;
  const heartbeat = scanFile(path.join(recording, 'rank00001.bin')).heartbeat!.realtime;
  vi.useFakeTimers({ toFake: ['Date'], now: Number(heartbeat / 1_000_000n) + ms });
  const told: string[] = [];
  const { verdict } = await merge({
    inputs: [recording],
    output: path.join(folder, `${ms}.pftrace`),
    jobs: 1,
    onWait: (text) => told.push(text),
  });
  return { told, kind: verdict.kind };
}

it('merge says that it waits, and why, where the verdict depends on a process that may be alive', async () => {
  const early = await mergedAt(1000);
  expect(early.told).toEqual(['waits up to 2 s: the verdict depends on whether the ranks are still alive']);
  const late = await mergedAt(60_000);
  expect(late).toEqual({ told: [], kind: early.kind });
});
