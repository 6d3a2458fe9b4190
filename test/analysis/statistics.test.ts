/** The little statistics of the tables, held against numbers that can be done by hand, and against random lines. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitLine, lineTime } from '../../src/analysis/latency_and_rate.js';
import { sizeClassOf } from '../../src/analysis/collectives.js';
import { binarySize } from '../../src/base/units.js';
import { medianOf, quantile, sortedNumbers } from '../../src/base/quantile.js';

/** The sends of one size. */
function timed(bytes: number, of: { count: number; sum: number; sumOfSquares: number; least: number }) {
  const total = (all: number) => ({ first: 0, width: 1, counts: new Float64Array(0), total: all });
  const { count, sum, sumOfSquares, least } = of;
  return {
    bytes,
    sumOfSquares,
    least,
    counts: total(count),
    sums: total(sum),
    own: sum,
    times: new Uint32Array(0),
  };
}

describe('quantiles', () => {
  it('are values that were measured', () => {
    const sorted = sortedNumbers([30, 10, 20, 40]);
    expect([0, 0.25, 0.5, 0.75, 0.99, 1].map((part) => quantile(sorted, part))).toEqual([
      10, 10, 20, 30, 40, 40,
    ]);
    expect(quantile([], 0.5)).toBeNaN();
    expect(medianOf([3])).toBe(3);
  });
});

describe('a line', () => {
  it('through exact points is found exactly, however the points are grouped', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e6 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.uniqueArray(fc.integer({ min: 1, max: 1 << 22 }), { minLength: 2, maxLength: 9 }),
        (intercept, slope, sizes) => {
          const line = fitLine(
            sizes.map((x, i) => {
              const y = intercept + slope * x;
              return { x, count: i + 1, sum: (i + 1) * y, sumOfSquares: (i + 1) * y * y };
            }),
          );
          expect(line!.slope / slope).toBeCloseTo(1, 6);
          expect((line!.intercept - intercept) / (intercept + slope * Math.max(...sizes))).toBeCloseTo(0, 6);
          expect(line!.r2).toBeGreaterThan(0.999);
        },
      ),
    );
  });

  it('has none of one size: a point has no slope', () => {
    const one = timed(4096, { count: 9, sum: 90, sumOfSquares: 900, least: 10 });
    expect(lineTime([one], 1, 'average')).toBeNull();
    expect(lineTime([one], 1, 'least')).toBeNull();
    expect(lineTime([], 1, 'least')).toBeNull();
  });

  it('is a latency and a rate; the least times have their own', () => {
    const at = (bytes: number, mean: number, least: number) =>
      timed(bytes, { count: 4, sum: 4 * mean, sumOfSquares: 4 * mean * mean, least });
    const sizes = [at(1000, 3000, 1100), at(2000, 4000, 1200), at(4000, 6000, 1400)];
    expect(lineTime(sizes, 2, 'average')).toEqual({ latencyNs: 4000, rateGBs: 0.5, r2: 1 });
    expect(lineTime(sizes, 2, 'least')).toEqual({ latencyNs: 2000, rateGBs: 5, r2: 1 });
  });

  it('is nothing where it does not fit: no latency below zero, and no line through a cloud', () => {
    const at = (bytes: number, least: number) =>
      timed(bytes, { count: 1, sum: least, sumOfSquares: least * least, least });
    expect(lineTime([at(1000, 100), at(2000, 1100)], 1, 'least')).toBeNull();
    expect(lineTime([at(1000, 900), at(2000, 100), at(3000, 900), at(4000, 200)], 1, 'average')).toBeNull();
    expect(lineTime([at(1000, 500), at(2000, 500)], 1, 'least')).toMatchObject({
      latencyNs: 500,
      rateGBs: null,
    });
  });
});

it('size classes are powers of four', () => {
  expect([0, 1, 3, 4, 15, 16, 65535, 65536, 1 << 20].map(sizeClassOf)).toEqual([
    0, 1, 1, 4, 4, 16, 16384, 65536, 1048576,
  ]);
  expect([0, 512, 1536, 256 << 10, 1 << 30].map(binarySize)).toEqual([
    '0 B',
    '512 B',
    '1.5 KiB',
    '256 KiB',
    '1 GiB',
  ]);
});
