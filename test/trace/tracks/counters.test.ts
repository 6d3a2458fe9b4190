/** Counters of bytes, sampled for a screen: which samples are left, and that they go on in the order of time. */

import { expect, it } from 'vitest';
import { sampleInterval } from '../../../src/trace/sample_interval.js';
import { coll, recording } from '../../support/made_up/recording.js';
import { draw } from '../../support/traces/picture.js';

/** A sample each 100 us. */
const INTERVAL = 100_000;

/** "time = total" of the bytes received. Each thread receives by itself; a time is that of an arrival. */
function samples(...threads: readonly (readonly (readonly [at: number, bytes: number])[])[]): string[] {
  const { file, comm, host } = recording();
  const parent = coll(host, comm, 10, 20);
  threads.forEach((arrivals, thread) => {
    const named = { threadName: `NCCL Progress ${thread}`, tid: 20 + thread };
    const ops = file.ring('ops', 64, named);
    const steps = file.ring('steps', 128, named);
    const op = ops.startProxyOp(30, { comm, parent, peer: 0, isSend: false, channel: thread });
    arrivals.forEach(([at, bytes], number) => {
      const step = steps.startProxyStep(at - 2, { comm, parent: op, step: number });
      steps
        .state(at - 1, step, 10)
        .state(at, step, 11, bytes)
        .stop(at + 1, step);
    });
    ops.stop(9e6, op);
  });
  return draw(file)
    .sink.of(/^rx bytes$/)
    .map((line) => line.replace(/ \[.*?\]/, ''));
}

it('a total keeps its first and its last sample and one per interval, each exact for its time', () => {
  const arrivals = Array.from({ length: 18 }, (_, i) => [100 + i * 0.15 * INTERVAL, 10] as const);
  expect(samples(arrivals)).toEqual(['100 = 0', '100 = 10', '105100 = 80', '210100 = 150', '255100 = 180']);
});

it('the last value before a pause is drawn at the time when it was reached', () => {
  const arrivals = [100, 110, 120, 50 * INTERVAL].map((at) => [at, 1] as const);
  expect(samples(arrivals)).toEqual(['100 = 0', '100 = 1', '120 = 3', '5000000 = 4']);
});

it('the bytes of two threads are counted in the order of time, whichever ring is read first', () => {
  const [even, odd] = [0, 1].map((one) =>
    Array.from({ length: 20 }, (_, i) => [100 + (2 * i + one) * INTERVAL, 1 + one] as const),
  );
  const totals = Array.from(
    { length: 40 },
    (_, i) => `${100 + i * INTERVAL} = ${3 * (i >> 1) + (i % 2 === 0 ? 1 : 3)}`,
  );
  expect(samples(even!, odd!)).toEqual(['100 = 0', ...totals]);
});

it('an hour has as many samples as a screen can show, a short run all of them', () => {
  expect(3600e9 / sampleInterval(3600e9)).toBeLessThanOrEqual(4096);
  expect(sampleInterval(0.4e9)).toBe(INTERVAL);
});
