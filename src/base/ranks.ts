/** Sets of ranks in words. */

/** "0-36,38-511": equal ranks folded; unknown ones last. */
export function foldRanks(ranks: readonly (number | null)[]): string {
  const sorted = [...new Set(ranks.filter((rank) => rank !== null))].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < sorted.length;) {
    let end = i;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    parts.push(end === i ? `${sorted[i]}` : `${sorted[i]}-${sorted[end]}`);
    i = end + 1;
  }
  return ranks.includes(null) ? [...parts, 'unknown'].join(',') : parts.join(',');
}
