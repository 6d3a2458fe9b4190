/** A thread that runs out of memory costs its own file alone. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

import { madeUpRank } from '../support/made_up/made_up_run.js';
import { PROGRAM } from '../support/program/program.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

/** Calls that all differ: the scan must remember each of them. */
function manyShapes(calls: number): RankFileBuilder {
  const file = new RankFileBuilder({ rank: 0, worldSize: 2, life: 'closed' });
  const comm = file.communicator({ name: 'world', commId: 0xabcdef0123n, rank: 0, nRanks: 2 });
  const host = file.ring('host', 1 << 19, { threadName: 'python', tid: 100 });
  for (let call = 0; call < calls; call++)
    host.startColl(1000 + call * 10, { comm, func: 'AllReduce', seqNumber: call, count: 1 + call });
  return file.clockSample(0).heartbeat(1000 + calls * 10);
}

it('is named, with a way out, and the other files are merged', () => {
  manyShapes(100_000).write(path.join(folder, 'rank00000.bin'));
  madeUpRank(1, { ranks: 2, collectives: 3, steps: 2 }).write(path.join(folder, 'rank00001.bin'));
  const mergeWith = (...options: string[]) => {
    const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=24' };
    const args = [
      PROGRAM,
      'merge',
      folder,
      '-o',
      path.join(folder, 'run.pftrace'),
      '--jobs',
      '2',
      ...options,
    ];
    return spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  };
  const sentence =
    'rank00000.bin: needs more memory than a thread may use; try again with NODE_OPTIONS=--max-old-space-size=8192 (MB)';
  const strict = mergeWith('--strict');
  expect(strict.stderr).toContain(sentence);
  expect(strict.status).toBe(3);
  expect(existsSync(path.join(folder, 'run.pftrace'))).toBe(false);
  const { stderr, status } = mergeWith();
  expect(stderr).toContain(sentence);
  expect(stderr).toContain('1 of 2 ranks');
  expect(status).toBe(0);
});
