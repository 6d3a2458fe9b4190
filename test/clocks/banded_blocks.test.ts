/** The blocks of a banded matrix are solved exactly, also at their borders. */

import { expect, it } from 'vitest';
import { BandedBlocks } from '../../src/clocks/least_squares.js';

it('a matrix of two blocks of four unknowns, each with two entries beside the diagonal', () => {
  const size = 4;
  const unknowns = 2 * size;
  const entry = (i: number, j: number): number => {
    const isInBlock = Math.floor(i / size) === Math.floor(j / size);
    return isInBlock ? ([9 + i, 2, -1][Math.abs(i - j)] ?? 0) : 0;
  };
  const blocks = new BandedBlocks(unknowns, { count: 2, size, shared: 0 });
  for (let i = 0; i < unknowns; i++) for (let j = 0; j <= i; j++) blocks.add(i, j, entry(i, j));
  blocks.factor();
  const right = Float64Array.from({ length: unknowns }, (_, i) => 1 + i * i);
  const solved = blocks.solve(right, new Float64Array(unknowns));
  for (let i = 0; i < unknowns; i++) {
    const row = Array.from(solved, (value, j) => value * entry(i, j));
    expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(right[i]!, 9);
  }
});
