/** For each row of a table: the two latest times, from different ranks. They show how long all others waited for one rank alone. */

import { withRows } from '../base/columns.js';
import type { TraceNs } from '../base/time.js';

/** The latest time with its rank, and the latest one of another rank. NaN is the time of a rank that has not come. */
const COLUMNS = {
  file: new Int32Array(0),
  rank: new Int32Array(0),
  at: new Float64Array(0),
  second: new Float64Array(0),
};
const FIRST_ROWS = 64;

export class LatestTwo {
  private columns = withRows(COLUMNS, FIRST_ROWS);

  /** Adds the row if it does not exist. */
  add(row: number, file: number, rank: number, at: TraceNs): void {
    if (row >= this.columns.at.length) this.columns = withRows(this.columns, 2 * row);
    const { columns } = this;
    if (at <= columns.second[row]!) return;
    if (at <= columns.at[row]!) {
      columns.second[row] = at;
      return;
    }
    columns.second[row] = columns.at[row]!;
    columns.file[row] = file;
    columns.rank[row] = rank;
    columns.at[row] = at;
  }

  /** Call it when all times are known. */
  close(rows: number): void {
    this.columns = withRows(this.columns, rows);
  }

  /** The latest time of another rank than this one; null: no other came. */
  but(row: number, ofFile: number, ofRank: number): TraceNs | null {
    const { file, rank, at, second } = this.columns;
    const other = (file[row] !== ofFile || rank[row] !== ofRank ? at : second)[row]!;
    return Number.isNaN(other) ? null : (other as TraceNs);
  }
}
