/** Sets of ranks: as ranges, and as text. */

/** First and last, both included. */
export type RankRange = readonly [first: number, last: number];

/** Ascending, with equal and neighbouring ranks folded. */
export function rangesOf(ranks: readonly number[]): RankRange[] {
  // Mostly they are in order. A million missing ranks take a second to sort.
  const sorted = ranks.every((rank, i) => i === 0 || ranks[i - 1]! <= rank)
    ? ranks
    : [...ranks].sort((a, b) => a - b);
  const ranges: RankRange[] = [];
  for (let i = 0; i < sorted.length; i++) {
    const first = sorted[i]!;
    while (i + 1 < sorted.length && sorted[i + 1]! <= sorted[i]! + 1) i++;
    ranges.push([first, sorted[i]!]);
  }
  return ranges;
}

/** "0-7,42" */
export const rangesText = (ranges: readonly RankRange[]): string =>
  ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');

export const isInRanges = (ranges: readonly RankRange[], rank: number): boolean =>
  ranges.some(([first, last]) => rank >= first && rank <= last);

/** "0-36,38-511": equal ranks are folded, unknown ones come last. */
export function foldRanks(ranks: readonly (number | null)[]): string {
  const known = ranks.filter((rank) => rank !== null);
  const text = rangesText(rangesOf(known));
  if (known.length === ranks.length) return text;
  return text === '' ? 'unknown' : `${text},unknown`;
}
