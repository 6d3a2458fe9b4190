/**
 * For each row of a table: the few ranks that came last. They show how long all others waited for several ranks together, such as those of
 * a node. Only the newest rows are kept, because they show what a longer run would.
 */

import { withRows } from '../base/columns.js';
import type { Late, LateTogether, Spell } from './collective_types.js';

/** So many ranks at most are late together: as many as a node has. */
const MOST = 8;
const WIDTH = MOST + 1;
const MOST_ROWS = 20_000;
const FIRST_ROWS = 64;

/** A row is a rank: when it came, when it began, from when on it certainly waited for others, and since when it had been idle. */
const COLUMNS = {
  file: new Int32Array(0),
  rank: new Int32Array(0),
  came: new Float64Array(0),
  began: new Float64Array(0),
  waited: new Float64Array(0),
  idle: new Float64Array(0),
};
/** `row`: the row that lies here, plus 1. `others`: when the last rank of all that are not kept waited. */
const ROWS = { row: new Uint32Array(0), others: new Float64Array(0) };

export interface Came extends Pick<Late, 'file' | 'rank'> {
  readonly came: number;
  readonly began: number;
  readonly waited: number;
  readonly idle: Spell;
}

export class LatestFew {
  private columns = withRows(COLUMNS, FIRST_ROWS * WIDTH);
  private rows = withRows(ROWS, FIRST_ROWS);

  add(row: number, { file, rank, came, began, waited, idle }: Came): void {
    const at = this.placeFor(row);
    if (at < 0) return;
    const { columns, rows } = this;
    const end = (at + 1) * WIDTH;
    // Sorted, the latest first. NaN: nobody.
    let place = end;
    while (place > at * WIDTH && !(columns.came[place - 1]! >= came)) place--;
    const last = place === end ? waited : columns.waited[end - 1]!;
    if (last > rows.others[at]!) rows.others[at] = last;
    if (place === end) return;
    for (const column of Object.values(columns)) column.copyWithin(place + 1, place, end - 1);
    columns.file[place] = file;
    columns.rank[place] = rank;
    columns.came[place] = came;
    columns.began[place] = began;
    columns.waited[place] = waited;
    columns.idle[place] = idle.to >= came ? idle.from : Infinity;
  }

  /** Less than 0: a newer row lies there. */
  private placeFor(row: number): number {
    const at = row % MOST_ROWS;
    if (at >= this.rows.row.length) {
      const size = Math.min(MOST_ROWS, 2 * at);
      this.rows = withRows(this.rows, size);
      this.columns = withRows(this.columns, size * WIDTH);
    }
    const { rows, columns } = this;
    if (rows.row[at] === row + 1) return at;
    if (rows.row[at]! > row) return -1;
    rows.row[at] = row + 1;
    rows.others[at] = -Infinity;
    columns.came.fill(NaN, at * WIDTH, (at + 1) * WIDTH);
    return at;
  }

  /** For two ranks and more, up to half of `size`. */
  together(row: number, size: number): LateTogether[] {
    const at = row % MOST_ROWS;
    const { columns, rows } = this;
    if (rows.row[at] !== row + 1) return [];
    const begin = at * WIDTH;
    const found: LateTogether[] = [];
    for (let count = 2; count <= Math.min(MOST, size / 2); count++) {
      const end = begin + count;
      const to = columns.came[end - 1]!;
      let [others, idle, busy] = [rows.others[at]!, -Infinity, 0];
      for (let i = end; i < begin + WIDTH && !Number.isNaN(columns.came[i]); i++)
        others = Math.max(others, columns.waited[i]!);
      for (let i = begin; i < end; i++) {
        idle = Math.max(idle, columns.idle[i]!);
        busy = Math.max(busy, columns.began[i]! - columns.came[i]!);
      }
      // If a GPU had other work for longer than the others waited, the call is not the reason.
      if (Math.max(others, idle) < to && busy <= to - others)
        found.push({ ranks: this.ranksAt(begin, end), others, idle, to });
    }
    return found;
  }

  private ranksAt(begin: number, end: number): LateTogether['ranks'] {
    const { file, rank } = this.columns;
    return Array.from({ length: end - begin }, (_, i) => ({
      file: file[begin + i]!,
      rank: rank[begin + i]!,
    })).sort((a, b) => a.rank - b.rank);
  }
}
