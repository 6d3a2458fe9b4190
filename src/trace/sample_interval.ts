/**
 * How often counters of totals are drawn (src/kernel/draw/counters.ts). With samples every 100 us, a job of an hour would have 36 million on
 * each rank, and a screen has a few thousand columns. So the interval grows with the time that is drawn.
 */

const SHORTEST_NS = 100_000;
/** Intervals of a counter, with at most two samples each. Half of them are still more than a screen has columns. */
const MOST_INTERVALS = 4096;

/** ns between two samples of a counter that is drawn over `span`. */
export const sampleInterval = (span: number): number =>
  Math.max(SHORTEST_NS, Math.ceil(span / MOST_INTERVALS));
