/** From files to the verdict: cases in which only one state, or one channel, shows what happened. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { State } from '../../../src/rankfile/format/nccl.js';
import { diagnose } from '../../../src/report/diagnosis.js';
import { RankFileBuilder } from '../../support/rank_files/rank_file_builder.js';
import type { RingBuilder } from '../../support/rank_files/ring_builder.js';
import { folderOfFile } from '../../support/program/temporary_folder.js';

const folder = folderOfFile();

const S = 1e9;
const MS = 1e6;
let runs = 0;

interface Made {
  readonly rank: number;
  readonly comm: number;
  readonly host: RingBuilder;
  readonly ops: RingBuilder;
}

/** Two rings per rank: what its host calls, and what its proxy thread does. */
async function judged(ranks: number, abi: number, lives: number, make: (made: Made) => void) {
  const run = join(folder, `${runs++}`);
  mkdirSync(run);
  for (let rank = 0; rank < ranks; rank++) {
    const life = lives === Infinity ? 'closed' : 'recording';
    const file = new RankFileBuilder({ rank, worldSize: ranks, life });
    const comm = file.communicator({ name: 'pp', commId: 0xabcn, rank, nRanks: ranks, abi });
    make({ rank, comm, host: file.ring('host', 256, { tid: 1 }), ops: file.ring('ops', 512, { tid: 2 }) });
    file
      .clockSample(0)
      .heartbeat(Math.min(lives, 60) * S)
      .write(join(run, `rank0000${rank}.bin`));
  }
  return (await diagnose([run])).verdict;
}

describe('up to interface v3, where no step says that its GPU began', () => {
  /** All call at the same time. The GPU fills the send of rank 1 later, by `by` ns. */
  const sendsFilled = (by: number, every = S) =>
    judged(3, 3, Infinity, ({ rank, comm, host, ops }) => {
      for (let seqNumber = 0; seqNumber < 14; seqNumber++) {
        const at = S + seqNumber * every;
        const parent = host.startColl(at, { comm, seqNumber, nChannels: 1 });
        host.stop(at + 1000, parent);
        const both = [false, true].map((isSend) => {
          const peer = (rank + (isSend ? 1 : 2)) % 3;
          return ops.startProxyOp(at + 5000, { comm, parent, peer, isSend, ordinal: seqNumber });
        });
        ops.state(at + 10_000 + (rank === 1 ? by : 0), both[1]!, State.OpSendRemFifoWait, 0);
        for (const op of both) ops.stop(at + by + 5 * MS, op);
      }
    });

  it('the send that waits for room shows it: the rank whose GPU filled it late is named', async () => {
    expect(await sendsFilled(200 * MS)).toMatchObject({
      kind: 'slow',
      slow: { file: 1, on: 'GPU', basis: 'step', late: 13, of: 13 },
    });
    expect(await sendsFilled(0)).toMatchObject({ kind: 'healthy', latest: null });
  });

  it('an eighth of a second is too little, because a busy machine holds up a proxy thread so long; a quarter of the time is not', async () => {
    const why = { kind: 'healthy', latest: { file: 1, basis: 'step', why: 'cost' } };
    expect(await sendsFilled(10 * MS, 100 * MS)).toMatchObject(why);
    expect((await sendsFilled(20 * MS, 200 * MS)).kind).toBe('slow');
    expect((await sendsFilled(10 * MS, 30 * MS)).kind).toBe('slow');
  });
});

describe('a Send that NCCL announced with two channels', () => {
  /** Within a node, with KernelCh: NCCL uses one channel, because it is small. */
  const onOne = (lives: number) =>
    judged(2, 6, lives, ({ rank, comm, host, ops }) => {
      for (let ordinal = 0; ordinal < 3; ordinal++) {
        const at = (1 + ordinal) * S;
        const func = rank === 0 ? 'Send' : 'Recv';
        const parent = host.startP2p(at, { comm, func, peer: 1 - rank, ordinal, nChannels: 2 });
        host.stop(at + 1000, parent);
        const kernel = ops.startKernelCh(at + 30_000, { comm, parent, pTimer: BigInt(at + 20_000) });
        ops.state(at + 60_000, kernel, State.KernelChStop, at + 50_000).stop(at + 60_000, kernel);
      }
    });

  it('and used one: it is finished there, and no hang, however long the files go on', async () => {
    expect((await onOne(50)).kind).not.toBe('hung');
    expect((await onOne(Infinity)).kind).toBe('healthy');
  });

  it('and that is stuck on one of two: the report points at the operation on that channel', async () => {
    const stuck = 1;
    const verdict = await judged(2, 6, 50, ({ rank, comm, host, ops }) => {
      const func = rank === 0 ? 'Send' : 'Recv';
      const parent = host.startP2p(S, { comm, func, peer: 1 - rank, nChannels: 2 });
      host.stop(S + 1000, parent);
      for (const channel of [0, stuck]) {
        const to = { comm, parent, peer: 1 - rank, channel, isSend: rank === 0 };
        const op = ops.startProxyOp(S + 5000, to);
        const step = ops.startProxyStep(S + 6000, { comm, parent: op });
        if (rank === 1) ops.state(S + 7000, step, State.RecvWait);
        if (channel !== stuck) ops.stop(S + 9000, step).stop(S + 10_000, op);
      }
    });
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { func: 'Recv/Send', front: { channel: stuck }, waiting: [{ file: 0 }, { file: 1 }] },
    });
  });
});
