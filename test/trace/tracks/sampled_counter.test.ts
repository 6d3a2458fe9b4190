/** Counters sampled for a screen: which samples are left. */

import { expect, it } from 'vitest';
import { traceNsFromClockMap as at } from '../../../src/base/time.js';
import { sampleInterval, SampledCounter } from '../../../src/trace/tracks/sampled_counter.js';
import { TextSink } from '../../support/traces/text_sink.js';

function samples(interval: number, changes: readonly (readonly [time: number, amount: number])[]): string[] {
  const sink = new TextSink();
  const track = sink.describe({ kind: 'counter', detail: 'op', name: 'bytes', rank: 0, unit: 'bytes' });
  const counter = new SampledCounter(sink, track, interval);
  for (const [time, amount] of changes) counter.add(amount, at(time));
  counter.finish();
  return sink.lines.map((line) => line.replace(/ \[.*?\]/, ''));
}

it('a total keeps its first and its last sample and one per interval, each exact for its time', () => {
  const changes = Array.from({ length: 18 }, (_, i) => [i * 15, 10] as const);
  expect(samples(100, changes)).toEqual(['0 = 10', '105 = 80', '210 = 150', '255 = 180']);
});

it('the last value before a pause is drawn at the time when it was reached', () => {
  expect(
    samples(100, [
      [0, 1],
      [10, 1],
      [20, 1],
      [5000, 1],
    ]),
  ).toEqual(['0 = 1', '20 = 3', '5000 = 4']);
});

it('without an interval every change is drawn', () => {
  expect(
    samples(0, [
      [1, 1],
      [2, 1],
      [3, -1],
    ]),
  ).toHaveLength(3);
});

it('an hour has as many samples as a screen can show, a short run all of them', () => {
  expect(3600e9 / sampleInterval(3600e9)).toBeLessThanOrEqual(4096);
  expect(sampleInterval(0.4e9)).toBe(100_000);
});
