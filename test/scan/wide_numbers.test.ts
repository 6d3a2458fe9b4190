/** Numbers of 53 bits in rows of four bytes. */

import { expect, it } from 'vitest';
import { numberAt, packNumbers } from '../../src/model/wide_numbers.js';

it('come back as they were, whichever halves change from one to the next', () => {
  const numbers = [
    0,
    7,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 32,
    3 * 2 ** 40 + 5,
    2 ** 40,
    2 ** 40 + 1,
    2 ** 53 - 1,
    1,
  ];
  const packed = packNumbers(numbers, numbers.length);
  expect(numbers.map((_, row) => numberAt(packed, row))).toEqual(numbers);
  expect(packNumbers(numbers, 3)).toMatchObject({ low: { length: 3 }, from: { length: 1 } });
});

it('take four bytes each where their upper halves are the same', () => {
  const ticks = Array.from({ length: 1000 }, (_, i) => 9 * 2 ** 32 + i);
  const packed = packNumbers(ticks, ticks.length);
  expect(packed.low.byteLength + packed.from.byteLength + packed.high.byteLength).toBe(4008);
});
