/** Kernels of a process with several GPUs: each GPU has a timer of its own, and nothing says on which one a communicator is. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clockTable } from '../../src/report/clock_text.js';
import { merge } from '../../src/merge.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const EPOCH = 1_790_000_000_000_000_000n;
const WORLD = 7n;
const OTHER = 9n;

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

interface Rank {
  readonly commId: bigint;
  readonly rank: number;
  /** How far its GPU's timer is ahead of the host's clock, ns. */
  readonly ahead: number;
}

const ROUNDS = 10;
const startOf = (round: number): number => 10_000_000 * (round + 1);
/** From the start of a round: when kernels run, and when their end is noticed; soonest in the first round. */
const BEGIN = 1000;
const END = 8000;
const SOONEST = 50;
const noticedEnd = (round: number): number => (round === 0 ? END + SOONEST : END + 1000);

/** One process. `strays`: kernels of a communicator that is not in the file's table. */
async function shown(ranks: readonly Rank[], strays = 0) {
  const file = new RankFileBuilder({ rank: 0, worldSize: 1, startRealtime: EPOCH, life: 'closed' });
  const host = file.ring('host', 256, { tid: 1 });
  const ops = file.ring('ops', 256, { tid: 2 });
  const comms = ranks.map(({ commId, rank }) =>
    file.communicator({ commId, rank, nRanks: ranks.length, name: 'world', abi: 6 }),
  );
  const kernel = (at: number, round: number, ahead: number, comm: number, parent: bigint): void => {
    const stamp = (ns: number): bigint => EPOCH + BigInt(ns + ahead);
    const handle = ops.startKernelCh(at + BEGIN + 200, { comm, parent, pTimer: stamp(at + BEGIN) });
    const noticed = at + noticedEnd(round);
    ops.state(noticed, handle, 22, stamp(at + END)).stop(noticed, handle);
  };
  for (let round = 0; round < ROUNDS; round++)
    ranks.forEach(({ ahead }, i) => {
      const at = startOf(round) + i * 100_000;
      const comm = comms[i]!;
      const api = host.startCollApi(at, { comm, func: 'AllReduce' });
      const parent = host.startColl(at + 10, { comm, parent: api, func: 'AllReduce', seqNumber: round });
      host.stop(at + 20, parent).stop(at + 30, api);
      kernel(at, round, ahead, comm, parent);
    });
  for (let i = 0; i < strays; i++) kernel(startOf(ROUNDS) + i * 100_000, 0, ranks[0]!.ahead, 99, 0n);
  file.heartbeat(1e9).write(join(folder, 'rank0.bin'));
  const output = join(folder, 'out.pftrace');
  const report = await merge({ inputs: [folder], output, jobs: 1 });
  const view = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  expect(view.problems).toEqual([]);
  const kernels = view.slices.filter(({ name }) => name?.endsWith(' kernel'));
  return { report, view, kernels, ticks: (ts: bigint) => Number(ts - view.start) };
}

const world = (...ahead: number[]): Rank[] => ahead.map((ns, rank) => ({ commId: WORLD, rank, ahead: ns }));

describe('the timers of a process with several GPUs', () => {
  it.each([
    ['5 ms apart', 5_000_000],
    ['0.3 ms apart', 300_000],
    ['0.3 ms apart, the other way', -300_000],
  ])('%s are each aligned with the host separately', async (_, ahead) => {
    const { kernels, ticks, report, view } = await shown(world(0, ahead));
    expect(kernels).toHaveLength(2 * ROUNDS);
    expect(kernels.map(({ args }) => args.suspect)).toEqual(Array(2 * ROUNDS).fill(undefined));
    const lateness = kernels.map(({ ts }) => (ticks(ts) - BEGIN) % 100_000);
    expect(lateness).toEqual(Array(2 * ROUNDS).fill(SOONEST));
    expect(report.ranks[0]!.suspectKernels).toBe(0);
    // What a collective's end is drawn from, on its rank and on all of them.
    const collectives = view.slices.filter(({ name }) => name === 'AllReduce');
    const onCluster = collectives.filter(({ track }) => track.path[0]!.startsWith('Cluster'));
    const onRank = collectives.filter(({ track }) => track.name.includes(' · collectives'));
    expect([onCluster.length, onRank.length]).toEqual([ROUNDS, 2 * ROUNDS]);
    for (const { ts, dur } of [...onCluster, ...onRank])
      expect(ticks(ts + dur) % 100_000).toBe(END + SOONEST);
  });

  it('have bounds of their own that hold', async () => {
    const { report } = await shown(world(0, 5_000_000));
    const { gpus = [] } = report.clocks[0]!;
    expect(gpus.map(({ rank, commId }) => [commId, rank])).toEqual([
      ['0x0000000000000007', 0],
      ['0x0000000000000007', 1],
    ]);
    for (const { late, early } of gpus) {
      expect(late).toBeGreaterThanOrEqual(SOONEST);
      expect(late).toBeLessThan(10_000);
      expect(early).toBeLessThan(10_000);
    }
    expect(clockTable(report)).toContain('kernels of 2 ranks of communicators against their hosts');
  });

  it('are looked up for each communicator: the GPU of a process in another communicator is not known', async () => {
    const { kernels, report } = await shown([
      ...world(0, 5_000_000),
      { commId: OTHER, rank: 1, ahead: 5_000_000 },
    ]);
    expect(kernels.map(({ args }) => args.suspect)).toEqual(Array(3 * ROUNDS).fill(undefined));
    expect(report.clocks[0]!.gpus).toHaveLength(3);
  });

  it('place no kernel of an unknown communicator', async () => {
    const { kernels, report } = await shown(world(0, 5_000_000), 2);
    const strays = kernels.filter(({ name }) => name === 'unknown kernel');
    expect(strays.map(({ args }) => args.suspect)).toEqual(['no GPU clock', 'no GPU clock']);
    expect(report.ranks[0]!.suspectKernels).toBe(2);
  });
});

it('one rank in several communicators is one GPU, of all kernels', async () => {
  const ranks = [WORLD, OTHER].map((commId) => ({ commId, rank: 0, ahead: 40_000_000 }));
  const { kernels, report } = await shown(ranks, 1);
  expect(kernels.map(({ args }) => args.suspect)).toEqual(Array(2 * ROUNDS + 1).fill(undefined));
  const { gpus } = report.clocks[0]!;
  expect(gpus).toHaveLength(1);
  expect(gpus![0]).toMatchObject({ rank: 0 });
  expect(gpus![0]).not.toHaveProperty('commId');
});
