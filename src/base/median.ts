/** The value in the middle; of an even number of values the upper one of two. undefined: there are none. */
export function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
