/**
 * A small made-up run for tests of `merge`: a ring of ranks, each with the rings of a proxy and an API thread, some
 * AllReduces with one channel whose sends and receives match. Ticks are nanoseconds on one host.
 */

import { join } from 'node:path';
import { RankFileBuilder, type FileOptions, type RingBuilder } from '../rank_files/rank_file_builder.js';

export interface MadeUpRun {
  readonly ranks: number;
  readonly collectives: number;
  readonly steps: number;
}

export const SMALL_RUN: MadeUpRun = { ranks: 4, collectives: 3, steps: 6 };

export function madeUpRank(
  rank: number,
  run: MadeUpRun = SMALL_RUN,
  options: FileOptions = {},
): RankFileBuilder {
  const file = new RankFileBuilder({ rank, worldSize: run.ranks, life: 'closed', ...options });
  const comm = file.communicator({ name: 'world', commId: 0xabcdef0123n, rank, nRanks: run.ranks });
  const host = file.ring('host', 256, { threadName: 'python', tid: 100 + rank });
  const ops = file.ring('ops', 256, { threadName: 'NCCL Progress 0', tid: 200 + rank });
  const steps = file.ring('steps', 1024, { threadName: 'NCCL Progress 0', tid: 200 + rank, foldCapacity: 8 });
  for (let i = 0; i < run.collectives; i++) collective({ rank, comm, host, ops, steps }, run, i);
  return file.clockSample(0).heartbeat(run.collectives * 100_000 + 50_000);
}

interface Parts {
  readonly rank: number;
  readonly comm: number;
  readonly host: RingBuilder;
  readonly ops: RingBuilder;
  readonly steps: RingBuilder;
}

function collective({ rank, comm, host, ops, steps }: Parts, run: MadeUpRun, i: number): void {
  const t = 1000 + i * 100_000 + rank * 10;
  const parent = host.startColl(t, {
    comm,
    func: 'AllReduce',
    seqNumber: i,
    count: 4096,
    algo: 'RING',
    proto: 'SIMPLE',
  });
  host.stop(t + 100, parent);
  const common = { comm, parent, ordinal: i, nSteps: run.steps };
  const recv = ops.startProxyOp(t + 200, { ...common, peer: (rank + run.ranks - 1) % run.ranks });
  const send = ops.startProxyOp(t + 210, { ...common, peer: (rank + 1) % run.ranks, isSend: true });
  for (let step = 0; step < run.steps; step++)
    transfer(steps, { comm, send, recv, step, t: t + 1000 + step * 1000 });
  const end = t + 2000 + run.steps * 1000;
  ops.stop(end, send).stop(end + 10, recv);
}

function transfer(
  steps: RingBuilder,
  at: { comm: number; send: bigint; recv: bigint; step: number; t: number },
): void {
  const { comm, step, t } = at;
  const recv = steps.startProxyStep(t, { comm, parent: at.recv, step });
  const send = steps.startProxyStep(t + 5, { comm, parent: at.send, step });
  steps
    .state(t + 10, recv, 10)
    .state(t + 20, send, 8)
    .state(t + 100, send, 20)
    .state(t + 150, send, 9, 2048);
  steps
    .state(t + 400, recv, 11, 2048)
    .state(t + 410, recv, 12)
    .stop(t + 500, send)
    .stop(t + 600, recv);
}

/** Writes rank files into `folder`; returns their paths by rank. */
export function writeRun(folder: string, run: MadeUpRun = SMALL_RUN, options: FileOptions = {}): string[] {
  return Array.from({ length: run.ranks }, (_, rank) => {
    const path = join(folder, `rank${String(rank).padStart(5, '0')}.bin`);
    madeUpRank(rank, run, options).write(path);
    return path;
  });
}
