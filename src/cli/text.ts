/** Words for terminals. */

/** Text from a file may hold anything; a terminal must never obey it. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- exactly these are to go
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '?');
}

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
