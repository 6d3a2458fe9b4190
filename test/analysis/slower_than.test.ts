/** Times of one run that are longer than others: what counts on a machine whose load changes. */

import { expect, it } from 'vitest';
import { slowerThan, type ComparedTime } from '../../src/analysis/slower_than.js';

/** Every other time is `factor` times as long. `load`: the machine's, by index. */
const alternating = (factor: number, load: (i: number) => number): ComparedTime[] =>
  Array.from({ length: 40 }, (_, i) => ({
    ns: 1e6 * load(i) * (i % 2 === 1 ? factor : 1) * (1 + 0.01 * ((i * 7) % 11)),
    mayBeLonger: i % 2 === 1,
  }));
/** Up to five times as high, and down again. */
const waves = (i: number): number => 3 + 2 * Math.sin(i / 4);

it.each([
  ['twice as long, on a quiet machine', alternating(2, () => 1), 2],
  ['1.4 times as long, while the load rises and falls fivefold', alternating(1.4, waves), 1.4],
])('%s', (_, times, factor) => {
  expect(slowerThan(times, 40e6)!.factor).toBeCloseTo(factor, 1);
});

it.each<[string, readonly ComparedTime[]]>([
  ['1.15 times as long: too little to be worth a line', alternating(1.15, () => 1)],
  [
    '1.4 times as long, but only after the load rose',
    alternating(1, () => 1).map((one, i) => ({ ns: one.ns * (i < 20 ? 1 : 1.4), mayBeLonger: i >= 20 })),
  ],
  ['1.4 times as long, but in six places only', alternating(1.4, () => 1).slice(0, 12)],
  ['as long', alternating(1, waves)],
])('none: %s', (_, times) => {
  expect(slowerThan(times, 40e6)).toBeNull();
});

it('none: it costs less than 5 % of the run', () => {
  expect(
    slowerThan(
      alternating(2, () => 1),
      4e9,
    ),
  ).toBeNull();
});
