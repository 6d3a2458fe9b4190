/** Counters thinned to what a screen can show: which samples are left. */

import { expect, it } from 'vitest';
import { traceNsFromClockMap as at } from '../../../src/base/time.js';
import { sampleInterval, ThinnedSink } from '../../../src/trace/tracks/thinned_sink.js';
import { TextSink } from '../../support/text_sink.js';

it('a total keeps its first and its last sample and one per interval, each with its own time', () => {
  const text = new TextSink();
  const sink = new ThinnedSink(text, 100);
  const total = sink.describe({ kind: 'counter', detail: 'op', name: 'bytes', rank: 0, unit: 'bytes' });
  for (let time = 0; time <= 255; time += 15) sink.counter(total, at(time), time * 10);
  sink.finish();
  expect(text.lines.map((line) => line.replace(/ \[.*?\]/, ''))).toEqual([
    '0 = 0',
    '105 = 1050',
    '210 = 2100',
    '255 = 2550',
  ]);
});

it('rates, and counters of every change, are not thinned', () => {
  const text = new TextSink();
  const sink = new ThinnedSink(text, 1000);
  const rate = sink.describe({ kind: 'counter', detail: 'op', name: 'rate', rank: 0, unit: 'GB/s' });
  const works = sink.describe({ kind: 'counter', detail: 'coll', name: 'works', rank: 1, unit: 'count' });
  for (const time of [1, 2, 3]) {
    sink.counter(rate, at(time), time);
    sink.counter(works, at(time), time);
  }
  sink.finish();
  expect(text.lines).toHaveLength(6);
});

it('an hour has as many samples as a screen can show, a short run all of them', () => {
  expect(3600e9 / sampleInterval(3600e9)).toBeLessThanOrEqual(8192);
  expect(sampleInterval(0.5e9)).toBe(100_000);
});
