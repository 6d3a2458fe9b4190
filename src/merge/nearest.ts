/** What a person may have meant: words by how far they are from the one that was typed. */

export function closest(word: string, there: readonly string[]): string[] {
  const far = new Map(there.map((candidate) => [candidate, distance(word, candidate)]));
  return [...there].sort((a, b) => far.get(a)! - far.get(b)! || (a < b ? -1 : a > b ? 1 : 0));
}

/** Letters to insert, delete or replace; upper and lower case are the same. */
function distance(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + same));
    }
    row = next;
  }
  return row[right.length]!;
}
