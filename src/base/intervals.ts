/** Counts overlaps. */

/** `end` is not included. Infinity: it has not ended. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The largest number of intervals that overlap: as many lanes are needed if each takes the lowest free one. */
export function mostAtOnce(intervals: readonly Interval[]): number {
  const starts = Float64Array.from(intervals, ({ start }) => start).sort();
  const ends = Float64Array.from(intervals, ({ end }) => end).sort();
  let most = 0;
  let ended = 0;
  starts.forEach((start, begun) => {
    while (ends[ended]! <= start) ended++;
    most = Math.max(most, begun + 1 - ended);
  });
  return most;
}
