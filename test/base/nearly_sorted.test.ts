/** The order of nearly sorted numbers is that of a sort, whatever the numbers are. */

import { expect, it } from 'vitest';
import { nearlySorted } from '../../src/base/nearly_sorted.js';
import { seeded } from '../support/clocks/simulated_links.js';

const order = (numbers: Float64Array, length = numbers.length): number[] => {
  const found = new Uint32Array(length);
  nearlySorted(numbers, length, found);
  return [...found];
};

// How far numbers are from their places: with 0 nothing moves, with 1000 all of them are sorted.
it.each([0, 2, 15, 40, 1000])('numbers up to %i places away, some of them equal', (distance) => {
  const random = seeded(distance);
  const numbers = Float64Array.from({ length: 1000 }, (_, i) => Math.floor(i / 3 + random() * distance));
  const expected = Array.from(numbers.keys()).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
  expect(order(numbers)).toEqual(expected);
});

it('falling numbers, and only the first ones', () => {
  const falling = Float64Array.from({ length: 200 }, (_, i) => -i);
  expect(order(falling)).toEqual(Array.from({ length: 200 }, (_, i) => 199 - i));
  expect(order(falling, 3)).toEqual([2, 1, 0]);
});
