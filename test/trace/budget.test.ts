/**
 * The estimate of a trace's size, compared with what is then written: tracks exactly, slices to 1 %, bytes to a factor. Beyond the budget
 * less is drawn, in a stated order.
 */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { countWithin, TimeCounter } from '../../src/scan/time_counts.js';
import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { coll, recording } from '../support/made_up/recording.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import { drawnInto, expectWithin, slicesIn } from './drawn_sizes.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const samples = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const { folder, remove } = temporaryFolder();
afterAll(remove);
const drawn = drawnInto(folder);

describe('the estimate', () => {
  it.each(samples)('of %s', async (sample) => {
    const { report } = await drawn({ inputs: [path.join(root, sample)] });
    const { estimate } = report.selection;
    expectWithin(estimate.slices, slicesIn(report), 1.01);
    expectWithin(estimate.bytes, report.bytes, 1.4);
    expect(estimate.tracks).toBe(report.trace.tracks);
  });

  it('of a large run, of a window and of a detail of it', async () => {
    const file = path.join(folder, 'rank00000.bin');
    writeLargeStreamFile(file, 200_000, 'raw');
    const whole = await drawn({ inputs: [file] });
    const middle = whole.report.durationNs / 2;
    const selections = [
      {},
      { last: whole.report.durationNs / 4 },
      { around: { at: { kind: 'since-start', ns: middle }, halfNs: middle / 7 } },
      { detail: 'coll' },
      { detail: 'op' },
    ] as const;
    for (const select of selections) {
      const { report } = await drawn({ inputs: [file], select });
      expectWithin(report.selection.estimate.slices, slicesIn(report), 1.1);
      expectWithin(report.selection.estimate.bytes, report.bytes, 1.5);
      expectWithin(report.selection.estimate.tracks, report.trace.tracks, 2);
    }
  });
});

/** `calls` collectives of so many channels, 1 ms apart. NCCL reports only the start of their operations: one per direction, both with isSend 0. */
function endless(name: string, calls: number, channels: number) {
  const input = path.join(folder, name);
  const { file, comm } = recording({ rank: 0, worldSize: 1, life: 'closed' });
  const host = file.ring('host', 1 << 13, { threadName: 'python', tid: 21 });
  const ops = file.ring('ops', 1 << 17, { threadName: 'NCCL Progress 0', tid: 22 });
  for (let i = 0; i < calls; i++) {
    const at = 1e6 * (i + 1);
    const parent = coll(host, comm, at, at + 20, i, { algo: 'COLLNET_DIRECT' });
    for (let channel = 0; channel < channels; channel++)
      for (let direction = 0; direction < 2; direction++)
        ops.startProxyOp(at + 30, { comm, parent, peer: 0, channel, ordinal: i, nSteps: 4 });
  }
  return { input, file, comm, host, ops };
}

describe('operations whose end NCCL never reports', () => {
  it.each([
    [300, 2],
    [1100, 16],
  ])('%i calls of %i channels: instants on one track per channel, and no slices', async (calls, channels) => {
    const { input, file } = endless(`endless${calls}.bin`, calls, channels);
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    const { estimate, estimateOfAll, isReduced, isWhole } = report.selection;
    expect(report.ranks[0]!.endlessOps).toBe(2 * calls * channels);
    expect([isWhole, isReduced]).toEqual([true, false]);
    expect(estimateOfAll).toEqual(estimate);
    expectWithin(estimate.slices, slicesIn(report), 1.01);
    expectWithin(estimate.bytes, report.bytes, 1.5);
    expect(estimate.tracks).toBe(report.trace.tracks);
    const half = { last: report.durationNs / 2 };
    const part = (await drawn({ inputs: [input], select: half })).report;
    expectWithin(part.selection.estimate.slices, slicesIn(part), 1.1);
  });

  it('are counted right beside point-to-point receives that move, and one that hangs', async () => {
    const { input, file, comm, host, ops } = endless('beside.bin', 40, 1);
    for (let i = 0; i < 30; i++) {
      const at = 1e6 * (i + 1) + 500;
      const parent = host.startP2p(at, { comm, func: 'Recv', peer: 0, ordinal: i });
      host.stop(at + 20, parent);
      const op = ops.startProxyOp(at + 30, { comm, parent, peer: 0, ordinal: i, nSteps: 1 });
      if (i < 29) ops.stop(at + 100, op);
    }
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    expect(report.ranks[0]!.endlessOps).toBe(80);
    expectWithin(report.selection.estimate.slices, slicesIn(report), 1.01);
    expect(report.selection.estimate.tracks).toBe(report.trace.tracks);
  });

  it('are drawn in lanes if they move after a long wait', async () => {
    const input = path.join(folder, 'late.bin');
    const { file, comm } = recording({ life: 'closed' });
    const ops = file.ring('ops', 1 << 9, { tid: 22 });
    const begun = Array.from({ length: 50 }, (_, i) =>
      ops.startProxyOp(100 + i, { comm, peer: 3, ordinal: i }),
    );
    begun.forEach((op, i) => ops.stop(5000 + i, op));
    file.write(input);
    const { report } = await drawn({ inputs: [input] });
    expect(report.selection.estimate.slices).toBe(slicesIn(report));
    expect(report.trace.tracks).toBeGreaterThanOrEqual(50);
    expect(report.selection.estimate.tracks).toBe(report.trace.tracks);
  });
});

describe('counts of time', () => {
  it('are exact for the whole time, and for each half and quarter', () => {
    const counter = new TimeCounter();
    for (let at = 1000; at < 1000 + (1 << 14); at++) counter.add(at);
    const counts = counter.finish();
    expect(counts.counts.length).toBeLessThanOrEqual(128);
    expect(countWithin(counts, -Infinity, Infinity)).toBe(1 << 14);
    expect(countWithin(counts, 1000, 1000 + (1 << 13))).toBe(1 << 13);
    expect(countWithin(counts, 1000 + (1 << 13), Infinity)).toBe(1 << 13);
    expect(countWithin(counts, -Infinity, 999)).toBe(0);
    expect(countWithin(counts, 1050, 1100)).toBeCloseTo(50, 6);
    expect(countWithin(counts, 2000, 1000)).toBe(0);
  });

  it('are right for no event, for one, and for times that go back', () => {
    expect(countWithin(new TimeCounter().finish(), -Infinity, Infinity)).toBe(0);
    const counter = new TimeCounter();
    counter.add(50);
    expect(countWithin(counter.finish(), 50, 50)).toBeLessThanOrEqual(1);
    expect(countWithin(counter.finish(), -Infinity, Infinity)).toBe(1);
    counter.add(40);
    expect(countWithin(counter.finish(), -Infinity, Infinity)).toBe(2);
  });
});
