/** The first screen of a merged trace: what the cluster group shows of a made-up run. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { madeUpRank, SMALL_RUN, temporaryFolder } from '../support/made_up_run.js';
import { viewTrace, type ViewSlice } from '../support/trace_view.js';

let folder: string;
let remove: () => void;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(() => {
  remove();
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
