/** Formats text for terminals. */

import { foldRanks } from '../base/ranks.js';

export { foldRanks } from '../base/ranks.js';
export { printable } from '../base/printable.js';
export { timesText } from '../base/units.js';

/** Columns in a terminal: East Asian wide characters and emoji take two, combining marks none. */
export function columns(text: string): number {
  let sum = 0;
  for (const char of text) sum += width(char);
  return sum;
}

function width(char: string): number {
  if (/\p{M}/u.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

/** Unicode's wide and fullwidth East Asian blocks, rounded up to whole blocks. */
const WIDE =
  /[\u1100-\u115f\u231a\u231b\u2329\u232a\u23e9-\u23f3\u25fd\u25fe\u2614-\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd-\u26ce\u26d4\u26ea\u26f2-\u26fd\u2705-\u2728\u274c-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18fff}\u{1b000}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** The text in at most `most` columns. A longer text is cut and ends with dots. */
export function cut(text: string, most: number): string {
  if (columns(text) <= most) return text;
  let kept = '';
  let used = 0;
  for (const char of text) {
    used += width(char);
    if (used > most - 3) break;
    kept += char;
  }
  return `${kept}...`;
}

/** The size of a file, in decimal units as in `ls` and browsers. */
export function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** The size of a communicator; 0: NCCL did not report it (before profiler API v4). */
export function sizeText(nRanks: number, worldSize = nRanks): string {
  if (nRanks === 0) return 'size not known';
  return nRanks === worldSize ? `${nRanks} ranks` : `${nRanks} of ${worldSize} ranks`;
}

/** Lines of at most `most` columns, if no word is longer. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && columns(`${line} ${word}`) <= most) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export const COLUMNS = 80;
/** Width of a line's label with its indent. */
const LABEL = 18;
/** Width after the label. */
export const ROOM = COLUMNS - LABEL;

export const fit = (line: string): string => cut(line, COLUMNS);

/** "  never entered:  rank 37" */
export const labelled = (label: string, text: string): string => `${`  ${label}: `.padEnd(LABEL)}${text}`;
export const continued = (text: string): string => `${' '.repeat(LABEL)}${text}`;
/** The label stands before the first one. */
export const listed = (label: string, texts: readonly string[]): string[] =>
  texts.map((text, i) => (i === 0 ? labelled(label, text) : continued(text)));
/** A sentence, in as many lines as it needs. */
export const sentenceLines = (label: string, text: string): string[] => listed(label, wrapped(text, ROOM));

/** What is not shown is counted. */
export const andMore = (count: number, what = 'more'): string[] =>
  count > 0 ? [continued(`and ${count} ${what}`)] : [];
export const firstLines = (lines: readonly string[], most: number, rest?: string): string[] => [
  ...lines.slice(0, most),
  ...andMore(lines.length - most, rest),
];

/** "rank 3", "4 ranks (0-3)" */
export const ranksText = (ranks: readonly (number | null)[]): string =>
  ranks.length === 1 ? `rank ${foldRanks(ranks)}` : `${ranks.length} ranks (${foldRanks(ranks)})`;
