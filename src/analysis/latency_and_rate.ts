/**
 * A link's time as latency + size / rate, in two ways: fitted to all transfers (the usual time), and to the least time of each size (what
 * the link can do). With one size there is no line, because one point has no slope.
 */

import type { SizeTotals } from '../scan/transfer_totals.js';
import { fitLine } from './statistics.js';

export interface LinkLine {
  readonly latencyNs: number;
  /** null: more bytes took no longer. */
  readonly rateGBs: number | null;
  /** Part of the variance that the line explains. */
  readonly r2: number;
}

export function lineTime(
  sizes: readonly Omit<SizeTotals, 'counts' | 'sums'>[],
  nsPerTick: number,
  mode: 'average' | 'least',
): LinkLine | null {
  const line = fitLine(
    sizes.map(({ bytes: x, transfers, sum, sumOfSquares, least }) =>
      mode === 'average'
        ? { x, count: transfers, sum, sumOfSquares }
        : { x, count: 1, sum: least, sumOfSquares: least * least },
    ),
  );
  if (line === null) return null;
  const slope = line.slope * nsPerTick;
  return {
    latencyNs: Math.round(line.intercept * nsPerTick),
    rateGBs: slope > 0 ? Number((1 / slope).toPrecision(3)) : null,
    r2: Number(line.r2.toFixed(3)),
  };
}
