/**
 * The estimate of a trace's size, compared with what is then written: slices to 3 %, tracks and bytes to a factor. Beyond the budget
 * less is drawn, in a stated order.
 */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { countWithin, TimeCounter } from '../../src/scan/time_counts.js';
import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { drawnInto, expectWithin, slicesIn } from './drawn_sizes.js';

const root = fileURLToPath(new URL('../../samples/', import.meta.url));
const samples = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const folder = folderOfFile();
const drawn = drawnInto(folder);

describe('the estimate', () => {
  it.each(samples)('of %s', async (sample) => {
    const { report } = await drawn({ inputs: [path.join(root, sample)] });
    const { estimate } = report.selection;
    // The slices of the verdict, a few, are not counted.
    expectWithin(estimate.slices + 100, slicesIn(report) + 100, 1.03);
    expectWithin(estimate.bytes, report.bytes, 2);
    expectWithin(estimate.tracks + 100, report.trace.tracks + 100, 3);
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
      expectWithin(report.selection.estimate.tracks, report.trace.tracks, 3);
    }
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
