/** "Did you mean ...?" for names that people type. */

/** " (did you mean X?)", or nothing if no name is near. */
export function hint(typed: string, known: readonly string[]): string {
  const best = nearest(typed, known);
  return best === undefined ? '' : ` (did you mean ${best}?)`;
}

function nearest(typed: string, known: readonly string[]): string | undefined {
  const rated = known
    .map((name) => ({ name, distance: distance(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length * 0.4)));
  rated.sort((a, b) => a.distance - b.distance);
  return rated[0]?.name;
}

/** All names, the nearest first. */
export function closest(typed: string, known: readonly string[]): string[] {
  const far = new Map(known.map((name) => [name, distance(typed.toLowerCase(), name.toLowerCase())]));
  return [...known].sort((a, b) => far.get(a)! - far.get(b)! || (a < b ? -1 : a > b ? 1 : 0));
}

/** Counts insertions, deletions, replacements and swapped neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, rows[i - 1]![j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
