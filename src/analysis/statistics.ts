/** Lines through points, for the tables. */

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
