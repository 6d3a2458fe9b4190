/**
 * Counts of events over time, or sums of amounts, in bins. The width of the bins doubles when the run gets longer than all bins. So the
 * length of a run and its first event need not be known, and memory is bounded. A window's count is exact at the borders of bins. Within a
 * bin it is divided evenly.
 */

import type { Numbers } from '../kernel/host/numbers.js';

const BINS = 128;

/** Counts of [first, first + width), the next width, and so on. In ticks. */
export interface TimeCounts {
  readonly first: number;
  readonly width: number;
  readonly counts: Float64Array;
  readonly total: number;
}

export function readTimes(numbers: Numbers): TimeCounts {
  const [first, width, total] = [numbers.next(), numbers.next(), numbers.next()];
  return { first, width, counts: numbers.some(numbers.next()), total };
}

export class TimeCounter {
  private first = 0;
  private width = 1;
  /** 1 / width: a power of two, so exact. */
  private perTick = 1;
  private counts = new Float64Array(0);
  private total = 0;

  /** `bins`: an even number. */
  constructor(private readonly bins = BINS) {}

  /** Times may step back a little. Times before the first one count as the first. */
  add(at: number, times = 1): void {
    if (this.counts.length === 0) {
      this.first = at;
      this.counts = new Float64Array(this.bins);
    }
    this.total += times;
    let bin = (at - this.first) * this.perTick;
    while (bin >= this.bins) {
      this.widen();
      bin /= 2;
    }
    this.counts[bin < 0 ? 0 : bin | 0]! += times;
  }

  /** Adds the bins of another counter, each at the bin's start. */
  addAll({ first, width, counts }: TimeCounts): void {
    counts.forEach((times, bin) => {
      if (times > 0) this.add(first + bin * width, times);
    });
  }

  finish(): TimeCounts {
    let used = this.counts.length;
    while (used > 0 && this.counts[used - 1] === 0) used--;
    const { first, width, total } = this;
    return { first, width, counts: this.counts.slice(0, used), total };
  }

  private widen(): void {
    const { bins, counts } = this;
    for (let bin = 0; bin < bins; bin++)
      counts[bin] = bin < bins / 2 ? counts[2 * bin]! + counts[2 * bin + 1]! : 0;
    this.width *= 2;
    this.perTick /= 2;
  }
}

/** The count in [from, to]. The limits may be infinite. */
export function countWithin({ first, width, counts, total }: TimeCounts, from: number, to: number): number {
  if (to < from) return 0;
  if (from <= first && to >= first + width * counts.length) return total;
  let sum = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const start = first + bin * width;
    const shared = Math.min(to, start + width) - Math.max(from, start);
    if (shared > 0) sum += (counts[bin]! * Math.min(shared, width)) / width;
  }
  return sum;
}
