/** Columns of numbers in few bytes: each number comes back as it was. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  isWhole,
  numberAt,
  packNumbers,
  packParts,
  type PackedNumbers,
} from '../../src/base/packed_numbers.js';

const numbersOf = (packed: PackedNumbers): number[] =>
  Array.from({ length: packed.length }, (_, row) => numberAt(packed, row));

const bytesOf = (packed: PackedNumbers): number =>
  Object.values(packed)
    .filter((column) => ArrayBuffer.isView(column))
    .reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Just below and above each limit of a width. */
const EDGES = [
  0,
  1,
  7,
  0xfe,
  0xff,
  0x100,
  0xfffe,
  0xffff,
  0x10000,
  0xfffffffe,
  0xffffffff,
  2 ** 32,
  2 ** 53 - 1,
];

it('come back as they were, whatever their neighbours are', () => {
  const number = fc.oneof(
    fc.constantFrom(...EDGES, ...EDGES.map((edge) => -edge || 0), NaN, Infinity, -Infinity, 0.5, 2 ** 60),
    fc.integer(),
    fc.double({ noNaN: true }).map((double) => double || 0),
  );
  // Runs of one number, so that blocks of each width occur.
  const run = fc.tuple(number, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 12 }), (runs) => {
      const numbers = runs.flatMap(([first, length, step]) =>
        Array.from({ length }, (_, i) => (i % 7 === 6 && step === 3 ? NaN : first + i * step)),
      );
      const packed = packNumbers(numbers);
      expect(numbersOf(packed)).toEqual(numbers);
      expect(isWhole(packed)).toBe(true);
      const parts = Array.from({ length: Math.ceil(numbers.length / 256) }, (_, i) =>
        Float64Array.from(numbers.slice(256 * i, 256 * (i + 1))),
      );
      expect(packParts(parts, 256, numbers.length)).toEqual(packed);
    }),
  );
});

it('take the bytes that neighbours differ in', () => {
  const bytesPerRow = (number: (row: number) => number): number =>
    Math.round(bytesOf(packNumbers(Array.from({ length: 12_800 }, (_, row) => number(row)))) / 12_800);
  expect(bytesPerRow(() => 9 * 2 ** 40)).toBe(0);
  expect(bytesPerRow(() => NaN)).toBe(0);
  expect(bytesPerRow((row) => 9 * 2 ** 40 + row)).toBe(1);
  expect(bytesPerRow((row) => (row % 2 === 0 ? NaN : row * 256))).toBe(2);
  expect(bytesPerRow((row) => 2 ** 33 + row * 3e6)).toBe(4);
  expect(bytesPerRow((row) => row * 2 ** 30)).toBe(5);
  expect(bytesPerRow((row) => row / 3)).toBe(8);
});

it('are not whole if a row of a file has no number', () => {
  const packed = packNumbers(Array.from({ length: 300 }, (_, row) => (row < 256 ? 3 * row : row / 2)));
  expect(isWhole(packed)).toBe(true);
  expect(isWhole({ ...packed, length: 301 })).toBe(false);
  expect(isWhole({ ...packed, length: 400 })).toBe(false);
  expect(isWhole({ ...packed, length: 299.5 })).toBe(false);
  expect(isWhole({ ...packed, length: -1, blocks: new Float64Array(0) })).toBe(false);
  expect(isWhole({ ...packed, bytes: packed.bytes.slice(1) })).toBe(false);
  expect(isWhole({ ...packed, wide: packed.wide.slice(1) })).toBe(false);
  const changed = (place: number, by: number): PackedNumbers => ({
    ...packed,
    blocks: packed.blocks.map((number, i) => (i % 3 === place ? number + by : number)),
  });
  expect(isWhole(changed(0, 0.5))).toBe(true);
  for (const by of [0.5, -100, 1, NaN])
    for (const place of [1, 2]) expect(isWhole(changed(place, by))).toBe(false);
});
