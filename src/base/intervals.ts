/** Counts intervals that overlap. */

/**
 * The largest number of intervals that overlap at one time. This is the number of lanes if each interval takes the lowest free lane. An end
 * does not belong to its interval. Infinity: the interval has not ended. Sorts the columns.
 */
export function mostAtOnce(starts: Float64Array, ends: Float64Array): number {
  starts.sort();
  ends.sort();
  let most = 0;
  let ended = 0;
  for (let begun = 0; begun < starts.length; begun++) {
    while (ends[ended]! <= starts[begun]!) ended++;
    most = Math.max(most, begun + 1 - ended);
  }
  return most;
}
