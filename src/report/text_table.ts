/** Tables in a terminal, without lines between the cells. */

import { Table } from 'console-table-printer';
import { printable } from './text.js';

export interface TextColumn {
  readonly title: string;
  /** Numbers are easier to compare at the right. */
  readonly isNumber?: boolean;
}

const NO_LINE = { left: '', right: '', mid: '', other: '' };
const NO_LINES = {
  ...{ headerTop: NO_LINE, headerBottom: NO_LINE, tableBottom: NO_LINE, rowSeparator: NO_LINE },
  vertical: '',
};

/** Cells are printed as they are: cut them before if they may be long. */
export function textTable(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    columns: columns.map(({ title, isNumber }, i) => ({
      ...{ name: String(i), title, alignment: isNumber ? 'right' : 'left' },
    })),
    style: NO_LINES,
    shouldDisableColors: true,
  });
  for (const row of rows)
    table.addRow(Object.fromEntries(row.map((cell, i) => [String(i), printable(cell)] as const)));
  // Its lines begin with the padding of the first cell, and a line that is left out is an empty one.
  const lines = table.render().split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [`${line.slice(1).trimEnd()}\n`])).join('');
}
