/** Quantiles of measured values. */

import { median } from './median.js';

/** The nearest of the sorted values: always a measured value, never one between two. NaN for an empty list. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
  if (sorted.length === 0) return NaN;
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))]!;
}

export const sortedNumbers = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();

/** As `median`, but NaN if there are no values. */
export const medianOf = (values: readonly number[]): number => median(values) ?? NaN;
