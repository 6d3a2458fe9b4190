/** Columns that are as narrow as their numbers: each number comes back as it was. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { narrow } from '../../src/base/columns.js';

/** On both sides of the limits of a width. */
const EDGES = [2 ** 15 - 1, 2 ** 15, 2 ** 31 - 1, 2 ** 31, 2 ** 53 - 1, 2 ** 60];

it('keep their numbers, whatever their neighbours are', () => {
  const number = fc.oneof(
    fc.constantFrom(...EDGES, ...EDGES.map((edge) => -edge - 1), 0, NaN, Infinity, -Infinity, 0.5),
    fc.integer({ min: -3, max: 3 }),
  );
  fc.assert(
    fc.property(fc.array(number, { maxLength: 20 }), (numbers) => {
      expect([...narrow(numbers)]).toEqual(numbers);
    }),
  );
});

it('take two, four or eight bytes per number', () => {
  const width = (numbers: number[]): number => narrow(numbers).BYTES_PER_ELEMENT;
  expect([width([1, -(2 ** 15)]), width([1, 2 ** 15]), width([1, -(2 ** 31)])]).toEqual([2, 4, 4]);
  expect([width([1, 2 ** 31]), width([1, 0.5]), width([1, NaN])]).toEqual([8, 8, 8]);
});

it('share their memory if they say nothing, also when a longer one comes', () => {
  const empty = [5, 9, 7].map((rows) => narrow(new Array<number>(rows).fill(NaN)));
  expect(empty.map((column) => column.length)).toEqual([5, 9, 7]);
  expect(empty[1]!.buffer).toBe(empty[2]!.buffer);
  expect(empty.every((column) => column.every(Number.isNaN))).toBe(true);
});
