/** From files to the verdict: a receive that waits for a rank which never sent. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { diagnose } from '../../src/report/diagnosis.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const folder = folderOfFile();

const S = 1e9;
const RANKS = 4;
/** Number of the second of each. */
const SECOND = 1;

/** Two processes with two GPUs each: rank 0 waits for what rank 2 is to send again. `others`: so many sends to it by rank 3. */
async function judged(others: number) {
  const run = join(folder, `${others}`);
  mkdirSync(run);
  for (const process of [0, 1]) {
    const file = new RankFileBuilder({ rank: process, worldSize: 2, life: 'recording' });
    const host = file.ring('host', 256, { tid: 1 });
    const ops = file.ring('ops', 256, { tid: 2 });
    const [first, second] = [0, 1].map((gpu) =>
      file.communicator({ name: 'pp', commId: 0xabcn, rank: 2 * process + gpu, nRanks: RANKS, abi: 6 }),
    ) as [number, number];
    const transfer = (comm: number, at: number, func: string, peer: number, ordinal: number, ends = true) => {
      const parent = host.startP2p(at, { comm, func, peer, ordinal });
      host.stop(at + 10, parent);
      const op = ops.startProxyOp(at + 50, { comm, parent, peer, nSteps: 1, isSend: func === 'Send' });
      if (ends) ops.stop(at + 900, op);
    };
    if (process === 0) {
      transfer(first, S, 'Recv', 2, 0);
      transfer(first, 2 * S, 'Recv', 2, SECOND, false);
    } else {
      transfer(first, 1.1 * S, 'Send', 0, 0);
      for (let i = 0; i < others; i++) transfer(second, (2.1 + i / 10) * S, 'Send', 0, i);
    }
    file
      .clockSample(0)
      .heartbeat(60 * S)
      .write(join(run, `rank0000${process}.bin`));
  }
  return (await diagnose([run])).verdict;
}

it('the verdict names the other side, whatever another rank of its process sent', async () => {
  for (const others of [0, 2])
    expect(await judged(others)).toMatchObject({
      kind: 'hung',
      hang: { func: 'Recv', seq: null, neverEntered: [{ file: 1 }] },
    });
});
