/**
 * The rank files of a large job: eight ranks per host, a ring of AllReduces with one channel, 61 records per collective. Written by the
 * tests' own builder from schemas/rank-file.md, because so many processes and hosts do not fit onto one machine. Every host has a clock
 * of its own.
 */

import { join } from 'node:path';
import { RankFileBuilder } from '../../test/support/rank_files/rank_file_builder.js';

const STEPS = 6;

interface Job {
  readonly ranks: number;
  readonly collectives: number;
  readonly ranksPerHost: number;
  /** From one collective to the next. */
  readonly apartNs: number;
  /** From one step to the next. */
  readonly stepNs: number;
  /** How much longer than 300 ns a message takes, ns; less than a step. */
  readonly waitingNs: () => number;
}

/** `only`: of these ranks of the job. */
export function writeManyFiles(
  folder: string,
  ranks: number,
  collectives: number,
  {
    only = Array.from({ length: ranks }, (_, rank) => rank),
    ranksPerHost = 8,
    apartNs = 100_000,
    stepNs = 1000,
    waitingNs = () => 0,
  }: Partial<Job> & { readonly only?: readonly number[] } = {},
): string[] {
  const job: Job = { ranks, collectives, ranksPerHost, apartNs, stepNs, waitingNs };
  return only.map((rank) => {
    const path = join(folder, `rank${String(rank).padStart(5, '0')}.bin`);
    rankFile(rank, job).write(path);
    return path;
  });
}

function rankFile(
  rank: number,
  { ranks, collectives, ranksPerHost, apartNs, stepNs, waitingNs }: Job,
): RankFileBuilder {
  const host = Math.floor(rank / ranksPerHost);
  const bootId = (host + 1).toString(16).padStart(32, '0');
  const file = new RankFileBuilder({
    rank,
    worldSize: ranks,
    life: 'closed',
    hostName: `node${host}`,
    bootId,
  });
  const comm = file.communicator({ name: 'world', commId: 0xabcdef0123n, rank, nRanks: ranks });
  const thread = { threadName: 'NCCL Progress 0', tid: 200 + rank };
  const slots = (perCollective: number): number => 2 ** Math.ceil(Math.log2(perCollective * collectives));
  const calls = file.ring('host', slots(9), { threadName: 'python', tid: 100 + rank });
  const ops = file.ring('ops', slots(12), thread);
  const steps = file.ring('steps', slots(100), { ...thread, foldCapacity: 8 });
  for (let i = 0; i < collectives; i++) {
    const t = 1000 + i * apartNs + (rank % ranksPerHost) * 10;
    const shape = { func: 'AllReduce', seqNumber: i, count: 4096, algo: 'RING', proto: 'SIMPLE' };
    const parent = calls.startColl(t, { comm, ...shape });
    calls.stop(t + 100, parent);
    const common = { comm, parent, ordinal: i, nSteps: STEPS };
    const recv = ops.startProxyOp(t + 200, { ...common, peer: (rank + ranks - 1) % ranks });
    const send = ops.startProxyOp(t + 210, { ...common, peer: (rank + 1) % ranks, isSend: true });
    for (let step = 0; step < STEPS; step++) {
      const u = t + 1000 + step * stepNs;
      const arrived = u + 400 + Math.round(waitingNs());
      const receiving = steps.startProxyStep(u, { comm, parent: recv, step });
      const sending = steps.startProxyStep(u + 5, { comm, parent: send, step });
      steps
        .state(u + 10, receiving, 10)
        .state(u + 20, sending, 8)
        .state(u + 100, sending, 20);
      steps
        .state(u + 150, sending, 9, 2048)
        .state(arrived, receiving, 11, 2048)
        .state(arrived + 10, receiving, 12);
      steps.stop(arrived + 100, sending).stop(arrived + 200, receiving);
    }
    const end = t + 2000 + STEPS * stepNs;
    ops.stop(end, send).stop(end + 10, recv);
  }
  return file.clockSample(0).heartbeat(collectives * apartNs + 50_000);
}
