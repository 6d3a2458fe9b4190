/**
 * A link's time as latency + size / rate, in two ways: fitted to all transfers (the usual time), and to the least time of each size (what
 * the link can do). There is no line with one size, because one point has no slope, and none that does not fit: a latency below zero is no
 * latency, and a line that explains less than half of the variance does not show what a size costs.
 */

import type { SizeTotals } from '../scan/transfer_totals.js';

export interface LinkLine {
  readonly latencyNs: number;
  /** null: more bytes took no longer. */
  readonly rateGBs: number | null;
  /** Part of the variance that the line explains. */
  readonly r2: number;
}

const LEAST_R2 = 0.5;

export function lineTime(
  sizes: readonly SizeTotals[],
  nsPerTick: number,
  mode: 'average' | 'least',
): LinkLine | null {
  const line = fitLine(
    sizes.map(({ bytes: x, counts, sums, sumOfSquares, least }) =>
      mode === 'average'
        ? { x, count: counts.total, sum: sums.total, sumOfSquares }
        : { x, count: 1, sum: least, sumOfSquares: least * least },
    ),
  );
  if (line === null || line.intercept < 0 || line.r2 < LEAST_R2) return null;
  const slope = line.slope * nsPerTick;
  return {
    latencyNs: Math.round(line.intercept * nsPerTick),
    rateGBs: slope > 0 ? Number((1 / slope).toPrecision(3)) : null,
    r2: Number(line.r2.toFixed(3)),
  };
}

/** y = intercept + slope x. */
export interface Line {
  readonly intercept: number;
  readonly slope: number;
  /** Part of the variance of y that the line explains, 0 to 1. */
  readonly r2: number;
}

/** The sums that a regression needs of points that share an x. `sumOfSquares`: of y. */
export interface PointsAtX {
  readonly x: number;
  readonly count: number;
  readonly sum: number;
  readonly sumOfSquares: number;
}

/** Least squares; null where all points have one x. */
export function fitLine(groups: readonly PointsAtX[]): Line | null {
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const meanX = groups.reduce((sum, { x, count }) => sum + x * count, 0) / total;
  const meanY = groups.reduce((sum, { sum: y }) => sum + y, 0) / total;
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, count, sum, sumOfSquares } of groups) {
    xx += count * (x - meanX) ** 2;
    xy += (x - meanX) * (sum - count * meanY);
    yy += sumOfSquares - 2 * meanY * sum + count * meanY ** 2;
  }
  if (!(xx > 0)) return null;
  const slope = xy / xx;
  return { slope, intercept: meanY - slope * meanX, r2: yy > 0 ? Math.min(1, (slope * xy) / yy) : 1 };
}
