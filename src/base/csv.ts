/**
 * A cell of a CSV file. Names are data: an apostrophe marks a name that a spreadsheet would run as a formula. `shown` replaces characters
 * that control a terminal, as in all our text.
 */
export function csvCell(cell: string | number | null, shown: (text: string) => string): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = shown(cell);
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
