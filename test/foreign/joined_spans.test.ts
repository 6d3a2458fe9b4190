/** Spans in rows for a page: nothing overlaps, nothing is lost without being counted, and there are never more than a page can show. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joined, stacked, type Span } from '../../src/foreign/beside/joined_spans.js';

const spansOf = (...all: [number, number][]): Span[] => all.map(([from, to], id) => ({ id, from, to }));

it('a call lies below its caller, and calls after each other in one row', () => {
  const { row, rows, busy, tooDeep } = stacked(
    spansOf([0, 100], [10, 40], [20, 30], [50, 60], [110, 120]),
    9,
  );
  expect([...row]).toEqual([0, 1, 2, 1, 0]);
  expect({ rows, busy, tooDeep }).toEqual({ rows: 3, busy: 110, tooDeep: 0 });
});

it('what is too deep has no row, and is counted', () => {
  const stack = stacked(spansOf([0, 100], [10, 40], [20, 30]), 2);
  expect([[...stack.row], stack.rows, stack.tooDeep]).toEqual([[0, 1, -1], 2, 1]);
  expect(joined(stack, 100, 1)).toHaveLength(2);
});

it('short neighbours are joined, a long one and one that is far away are not', () => {
  const stack = stacked(spansOf([0, 2], [3, 4], [9, 11], [30, 60], [61, 62], [90, 91]), 3);
  expect(joined(stack, 100, 10).map(({ from, to, count }) => [from, to, count])).toEqual([
    [0, 11, 3],
    [30, 60, 1],
    [61, 62, 1],
    [90, 91, 1],
  ]);
});

it('what begins before or ends after the picture is cut', () => {
  expect(joined(stacked(spansOf([-5, 500]), 1), 100, 10)).toEqual([
    { id: 0, from: 0, to: 100, row: 0, count: 1 },
  ]);
});

it('holds for any spans', () => {
  const some = fc.array(fc.tuple(fc.nat(1000), fc.nat(60)), { maxLength: 200 });
  fc.assert(
    fc.property(
      some,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 50 }),
      (all, rows, shortest) => {
        const stack = stacked(spansOf(...all.map(([at, long]): [number, number] => [at, at + long])), rows);
        const made = joined(stack, 2000, shortest);
        expect(made.reduce((sum, { count }) => sum + count, stack.tooDeep)).toBe(all.length);
        for (let row = 0; row < rows; row++) {
          const own = made.filter((one) => one.row === row).sort((a, b) => a.from - b.from || a.to - b.to);
          own.slice(1).forEach(({ from }, i) => {
            expect(from).toBeGreaterThanOrEqual(own[i]!.to);
          });
          expect(own.length).toBeLessThanOrEqual((2 * 1100) / shortest + 2);
        }
      },
    ),
  );
});
