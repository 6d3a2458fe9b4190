/** The middle value, or the upper of the two middle ones. undefined for an empty list. */
export function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
