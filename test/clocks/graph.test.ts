/** Graph algorithms and least squares, held against the slow and obvious way. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { adjacency, connectedBothWays, shortestPaths } from '../../src/clocks/graph.js';
import { SparseLeastSquares } from '../../src/clocks/least_squares.js';

const NODES = 7;
const node = fc.integer({ min: 0, max: NODES - 1 });
const arcs = fc.array(fc.record({ from: node, to: node, length: fc.integer({ min: 0, max: 20 }) }), {
  maxLength: 25,
});

/** Floyd and Warshall's. */
function allPairs(list: readonly { from: number; to: number; length: number }[]): number[][] {
  const distance = Array.from({ length: NODES }, (_, i) =>
    Array.from({ length: NODES }, (__, j) => (i === j ? 0 : Infinity)),
  );
  for (const { from, to, length } of list) distance[from]![to] = Math.min(distance[from]![to]!, length);
  for (let via = 0; via < NODES; via++) {
    for (let i = 0; i < NODES; i++) {
      for (let j = 0; j < NODES; j++)
        distance[i]![j] = Math.min(distance[i]![j]!, distance[i]![via]! + distance[via]![j]!);
    }
  }
  return distance;
}

it('finds shortest paths, from a node and to it', () => {
  fc.assert(
    fc.property(arcs, node, (list, source) => {
      const distance = allPairs(list);
      const lengths = Float64Array.from(list, ({ length }) => length);
      const from = shortestPaths(adjacency(NODES, list, 'from'), lengths, source);
      const to = shortestPaths(adjacency(NODES, list, 'to'), lengths, source);
      expect([...from]).toEqual(distance[source]);
      expect([...to]).toEqual(distance.map((row) => row[source]));
    }),
  );
});

it('finds who is connected both ways', () => {
  fc.assert(
    fc.property(arcs, (list) => {
      const distance = allPairs(list);
      const expected = new Map<number, number[]>();
      for (let i = 0; i < NODES; i++) {
        const mates = distance.flatMap((row, j) =>
          row[i]! < Infinity && distance[i]![j]! < Infinity ? [j] : [],
        );
        expected.set(mates[0]!, mates);
      }
      expect(connectedBothWays(NODES, list)).toEqual(
        [...expected].sort(([a], [b]) => a - b).map(([, mates]) => mates),
      );
    }),
  );
});

it('gives the same solution and variances as a calculation by hand', () => {
  // x0 = 3 within 1, x1 - x0 = 4 within 2, and x1 = 8 within 1: minimize by hand.
  const rows = [
    [[0], [1], 3, 1],
    [[0, 1], [-1, 1], 4, 2],
    [[1, -1], [1, 5], 8, 1],
  ] as const;
  const system = new SparseLeastSquares(2);
  for (const [indices, coefficients, target, sigma] of rows) system.add(indices, coefficients, target, sigma);
  const x = system.solve(new Float64Array(2));
  // normal equations: 1.25 a - 0.25 b = 2, -0.25 a + 1.25 b = 9
  expect(x[0]).toBeCloseTo(4.75 / 1.5, 9);
  expect(x[1]).toBeCloseTo(11.75 / 1.5, 9);
  const matrix = system.factored();
  expect(matrix.variance([0], [1])).toBeCloseTo(1.25 / 1.5, 9);
  expect(matrix.variance([1, 0], [1, -1])).toBeCloseTo((1.25 + 1.25 - 0.5) / 1.5, 9);
});

it('knows the variances that the whole matrix has', () => {
  const row = (unknowns: number) =>
    fc.record({
      indices: fc.array(fc.integer({ min: -1, max: unknowns - 1 }), { minLength: 1, maxLength: 4 }),
      sigma: fc.double({ min: 0.1, max: 10, noNaN: true }),
    });
  fc.assert(
    fc.property(
      fc
        .integer({ min: 1, max: 9 })
        .chain((unknowns) => fc.tuple(fc.constant(unknowns), fc.array(row(unknowns)))),
      ([unknowns, rows]) => {
        const system = new SparseLeastSquares(unknowns);
        const whole = Array.from({ length: unknowns }, () => new Array<number>(unknowns).fill(0));
        const add = (indices: readonly number[], sigma: number): void => {
          const coefficients = indices.map((_, i) => (i % 2 === 0 ? 1 + i : -1));
          system.add(indices, coefficients, 0, sigma);
          indices.forEach((a, i) => {
            indices.forEach((b, j) => {
              if (a >= 0 && b >= 0) whole[a]![b]! += (coefficients[i]! * coefficients[j]!) / sigma ** 2;
            });
          });
        };
        for (const { indices, sigma } of rows) add([...new Set(indices)], sigma);
        for (let i = 0; i < unknowns; i++) add([i], 20);
        const matrix = system.factored();
        for (let plus = -1; plus < unknowns; plus++) {
          const wanted = Array.from({ length: unknowns }, (_, i) =>
            i === plus ? 1 : i === 0 && plus !== 0 ? -1 : 0,
          );
          const solved = solveWhole(whole, wanted);
          const expected = solved.reduce((sum, value, i) => sum + value * wanted[i]!, 0);
          expect(matrix.variance([plus, plus === 0 ? -1 : 0], [1, -1])).toBeCloseTo(expected, 6);
        }
      },
    ),
  );
});

/** Gauss, of a matrix that is positive definite. */
function solveWhole(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  rows.forEach((pivot, i) => {
    rows.forEach((row, j) => {
      if (j === i) return;
      const factor = row[i]! / pivot[i]!;
      for (let k = i; k < row.length; k++) row[k]! -= factor * pivot[k]!;
    });
  });
  return rows.map((row, i) => row.at(-1)! / row[i]!);
}
