/** The first screen of a merged trace: what the cluster group shows of a made-up run. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';
import { viewTrace, type ViewSlice } from '../support/traces/trace_view.js';

let folder: string;
eachInItsFolder((made) => {
  folder = made;
});

async function cluster(ranks: readonly number[], options = {}): Promise<readonly ViewSlice[]> {
  for (const rank of ranks) madeUpRank(rank, SMALL_RUN, options).write(path.join(folder, `rank${rank}.bin`));
  const output = path.join(folder, 'out.pftrace');
  await merge({ inputs: [folder], output, jobs: 1 });
  const { slices, problems } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  expect(problems).toEqual([]);
  return slices.filter(({ track }) => track.process === undefined && track.name !== 'verdict');
}

it('one slice per collective, with skew, late rank and bandwidth, in the colour it has on the ranks', async () => {
  const slices = await cluster([0, 1, 2, 3]);
  expect(slices.map(({ name, args }) => [name, args.seq])).toEqual([
    ['AllReduce', 0],
    ['AllReduce', 1],
    ['AllReduce', 2],
  ]);
  for (const { track, args, dur } of slices) {
    expect(track.path).toEqual(['Cluster: HEALTHY', 'world (4 ranks)']);
    expect(args).toMatchObject({ ranks: 4, skewNs: 30, lateRank: 3, count: 4096, bytes: 16384 });
    // 16,384 bytes from the last arrival to the end; all-reduce of 4 moves each byte 2 * 3/4 times.
    const algbw = 16384 / (Number(dur) - 30);
    expect(args.algbwGBs).toBeCloseTo(algbw, 1);
    expect(args.busbwGBs).toBeCloseTo(algbw * 1.5, 1);
  }
});

it('says nothing about skew and bandwidth when a rank is missing', async () => {
  const [first] = await cluster([0, 1, 3]);
  expect(first?.name).toBe('AllReduce');
  expect(first?.args).toMatchObject({ ranks: 3, bytes: 16384 });
  expect(first?.args).not.toHaveProperty('skewNs');
  expect(first?.args).not.toHaveProperty('algbwGBs');
});

it('replays of a graph are joined by numbers above 22 bits and across 32 bits, and the rank that never came to the last one is named', async () => {
  const ordinals = [4_194_302, 4_194_303, 4_194_304, 2 ** 32 - 1, 0];
  const last = ordinals.length - 1;
  for (let rank = 0; rank < 4; rank++) {
    const file = new RankFileBuilder({ rank, worldSize: 4, life: 'recording' });
    const comm = file.communicator({ name: 'world', commId: 7n, rank, nRanks: 4 });
    const host = file.ring('host', 256, { tid: 100 });
    const ops = file.ring('ops', 256, { threadName: 'NCCL Progress 0', tid: 200 });
    ordinals.forEach((ordinal, i) => {
      if (i === last && rank === 3) return;
      const t = 1000 + i * 100_000 + rank * 10;
      const what = {
        comm,
        func: 'AllReduce',
        seqNumber: 5,
        ordinal,
        count: 4096,
        algo: 'RING',
        proto: 'SIMPLE',
      };
      const parent = host.startColl(t, what);
      host.stop(t + 100, parent);
      const peer = (rank + 1) % 4;
      const op = ops.startProxyOp(t + 200, { comm, parent, ordinal: i, nSteps: 1, peer, isSend: true });
      if (i < last) ops.stop(t + 5000, op);
    });
    file
      .clockSample(0)
      .heartbeat(5e9)
      .write(path.join(folder, `rank${rank}.bin`));
  }
  const output = path.join(folder, 'out.pftrace');
  const { verdict } = await merge({ inputs: [folder], output, jobs: 1, hungAfter: 1 });
  const { slices } = viewTrace(readFileSync(output), { emptySlices: 'fine' });
  const joined = slices.filter(({ track, args }) => track.process === undefined && args.seq === 5);
  expect(joined.map(({ args }) => [args.replay ?? 0, args.ranks])).toEqual(
    ordinals.map((ordinal, i) => [ordinal, i < last ? 4 : 3]),
  );
  expect(verdict).toMatchObject({ kind: 'hung', hang: { replay: 0, neverEntered: [{ file: 3 }] } });
});
