/**
 * Least and greatest values of long lists. `Math.max(...list)` and `push(...list)` put every element on the stack, which overflowed in a
 * run of 512 files with 256 communicators each. The linter refuses both.
 */

/** At least `floor`, also for an empty list. */
export function maxOf(values: Iterable<number>, floor = -Infinity): number {
  let most = floor;
  for (const value of values) most = Math.max(most, value);
  return most;
}

/** At most `ceiling`, also for an empty list. */
export function minOf(values: Iterable<number>, ceiling = Infinity): number {
  let least = ceiling;
  for (const value of values) least = Math.min(least, value);
  return least;
}

export function append<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one);
}
