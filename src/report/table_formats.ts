/** A table of a run with its rows, as CSV and as JSON. */

import { csvCell } from '../base/csv.js';
import type { CollectiveRow } from '../analysis/collectives.js';
import type { RunReport } from './run_report.js';
import {
  COLLECTIVES,
  LINKS,
  RANKS,
  WAITS,
  type Cell,
  type Column,
  type Table,
  type ShownName,
  type TableName,
} from './run_tables.js';
import { printable } from './text.js';

/** A table with its rows. */
export interface FilledTable {
  readonly name: TableName | 'query';
  readonly columns: readonly Omit<Column<never>, 'of'>[];
  readonly telling: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export const filled = <Row>({ name, columns, telling }: Table<Row>, rows: readonly Row[]): FilledTable => ({
  name,
  telling: [
    ...new Set([...telling, ...columns.flatMap((one) => (one.shown.isOffTerminal ? [] : [one.name]))]),
  ],
  columns: columns.map(({ of: _, ...column }) => column),
  rows: rows.map((row) => columns.map(({ of }) => of(row))),
});

/** `collectives`: all of the run. `byPair`: links over all channels. */
export function tableOf(
  name: ShownName,
  { ranks, links, pairs, waits }: Pick<RunReport, 'ranks' | 'links' | 'pairs' | 'waits'>,
  collectives: readonly CollectiveRow[],
  byPair = false,
): FilledTable {
  switch (name) {
    case 'collectives':
      return filled(COLLECTIVES, collectives);
    case 'links':
      return filled(LINKS, byPair ? pairs : links);
    case 'ranks':
      return filled(RANKS, ranks);
    case 'waits':
      return filled(WAITS, waits);
  }
}

/** RFC 4180, with line feeds. */
export const csvOf = ({ columns, rows }: FilledTable): string =>
  [columns.map(({ name }) => name), ...rows]
    .map((cells) => `${cells.map((cell) => csvCell(cell, printable)).join(',')}\n`)
    .join('');

/** Objects by column name. */
export const jsonOf = ({ columns, rows }: FilledTable): string =>
  `${JSON.stringify(
    rows.map((cells) => Object.fromEntries(columns.map(({ name }, i) => [name, cells[i]]))),
    null,
    1,
  )}\n`;
