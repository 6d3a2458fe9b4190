/** The scan's counts over time (scan/transfer_totals.ts) as series: the mean of each stretch that has any. */

import { countWithin, TimeCounter, type TimeCounts } from '../scan/time_counts.js';
import type { SizeTotals } from '../scan/transfer_totals.js';

/** How long a pair's sends of one size took: ns, the mean of each stretch of time. */
export interface SendSeries {
  readonly bytes: number;
  readonly transfers: number;
  readonly means: readonly number[];
}

export const sendSeries = ({
  sizes,
  nsPerTick,
}: {
  readonly sizes: readonly SizeTotals[];
  readonly nsPerTick: number;
}): SendSeries[] =>
  sizes.map(({ bytes, counts, sums }) => ({
    bytes,
    transfers: counts.total,
    means: meansOverTime(counts, sums, nsPerTick),
  }));

export function meansOverTime(
  { first, width, counts }: TimeCounts,
  sums: TimeCounts,
  factor: number,
): number[] {
  return Array.from(counts).flatMap((count, bin) => {
    const from = first + bin * width;
    return count > 0 ? [(factor * countWithin(sums, from, from + width)) / count] : [];
  });
}

export function countsTogether(...all: readonly TimeCounts[]): TimeCounts {
  const sum = new TimeCounter(16);
  for (const one of all) sum.addAll(one);
  return sum.finish();
}
