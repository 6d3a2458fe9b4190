/** A table for people: numbers with units, the most telling columns that fit into the terminal, and what is not shown. */

import { maxOf } from '../base/extremes.js';
import { UsageError } from '../base/errors.js';
import { hint } from '../base/nearest.js';
import { binarySize, counted, digits, shortDuration } from '../base/units.js';
import { nameOrId } from '../runs/communicators.js';
import type { Cell } from './run_tables.js';
import type { FilledTable } from './table_formats.js';
import { columns as widthOf, cut } from './text.js';
import { textTable } from './text_table.js';

export interface ShownOptions {
  /** Rows; undefined: MOST_ROWS. */
  readonly top?: number | undefined;
  /** Columns of the terminal; Infinity: it is none. */
  readonly width: number;
}

const MOST_ROWS = 40;
const MOST_CHARACTERS = 28;
/** Between two columns. */
const GAP = 2;

type Column = FilledTable['columns'][number];

export function shownTable(
  { columns, rows, telling }: FilledTable,
  { top = MOST_ROWS, width }: ShownOptions,
): string {
  if (rows.length === 0) return 'none\n';
  const placeOf = (name: string): number => columns.findIndex((column) => column.name === name);
  const [comm, commId] = [placeOf('comm'), placeOf('comm_id')];
  const first = rows
    .slice(0, top)
    .map((cells) =>
      cells.map((cell, at) =>
        at === comm ? nameOrId({ comm: String(cell), commId: String(cells[commId]) }) : cell,
      ),
    );
  const candidates = telling
    .map(placeOf)
    .map((at) => ({
      at,
      column: columns[at]!,
      isNumber: rows.every((cells) => typeof cells[at] !== 'string'),
      cells: first.map((cells) => cellText(cells[at]!, columns[at]!)),
    }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  const chosen = thatFit(candidates, width);
  const text = textTable(
    chosen.map(({ column, isNumber }) => ({ title: titleOf(column), isNumber })),
    first.map((_, row) => chosen.map(({ cells }) => cells[row]!)),
  );
  const hidden = candidates.filter((one) => !chosen.includes(one)).map(({ column }) => titleOf(column));
  const more = rows.length - first.length;
  const notes = [
    ...(more > 0 ? [`and ${counted(more, 'more row')}: --top ${rows.length}, --csv`] : []),
    ...(hidden.length > 0 ? [`no room for ${hidden.join(', ')}: --csv`] : []),
  ];
  return text + notes.map((note) => `${note}\n`).join('');
}

interface Candidate {
  /** Its place in the table. */
  readonly at: number;
  readonly column: Column;
  readonly isNumber: boolean;
  readonly cells: readonly string[];
}

/** The most telling ones, in the order of the table. */
function thatFit(candidates: readonly Candidate[], width: number): Candidate[] {
  let used = -GAP;
  const chosen: Candidate[] = [];
  for (const one of candidates) {
    const own = maxOf([titleOf(one.column), ...one.cells].map(widthOf));
    if (used + GAP + own > width && chosen.length > 0) continue;
    used += GAP + own;
    chosen.push(one);
  }
  return chosen.sort((a, b) => a.at - b.at);
}

/** Without the unit, which is in the cells. */
const titleOf = ({ name }: Column): string => name.replace(/_(ns|gbs|bytes)$/, '');

/** With its unit. */
export function cellText(cell: Cell, { unit, isName }: Pick<Column, 'unit' | 'isName'>): string {
  if (cell === null) return '';
  if (typeof cell === 'string') return cut(cell, MOST_CHARACTERS);
  switch (unit) {
    case 'ns': // a time of the trace is as `--around` takes it
      return isName ? `${(cell / 1e9).toFixed(6)}s` : shortDuration(cell);
    case 'bytes':
      return binarySize(cell);
    case 'GB/s':
      return cell < 0.01 ? `${digits(cell * 1e3)} MB/s` : `${digits(cell)} GB/s`;
    case '':
      return String(cell);
  }
}

/**
 * Orders the rows by a column, as its title or its name: the largest number first, names and places (ranks, times of the trace) from the
 * least. A minus before it turns the order. What is not known comes last. Throws UsageError.
 */
export function sorted(table: FilledTable, by: string | undefined): FilledTable {
  if (by === undefined) return table;
  const wanted = by.replace(/^-/, '');
  const at = table.columns.findIndex((column) => column.name === wanted || titleOf(column) === wanted);
  const column = table.columns[at];
  if (column === undefined) {
    const names = table.columns.map(titleOf);
    throw new UsageError(
      `--sort ${by}: there is no such column${hint(wanted, names)}; there are ${names.join(', ')}`,
    );
  }
  const down = column.isName === by.startsWith('-');
  const compare = (a: Cell, b: Cell): number => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : Number(a !== b);
    return down ? -order : order;
  };
  return { ...table, rows: [...table.rows].sort((a, b) => compare(a[at]!, b[at]!)) };
}
