/** For each row of a table: the two latest times, from different ranks. They show how long all others waited for one rank alone. */

import { withRows } from '../base/columns.js';
import type { TraceNs } from '../base/time.js';

/** NaN is the time of a rank that has not come. */
const emptyColumns = () => ({
  firstFile: new Int32Array(0),
  firstRank: new Int32Array(0),
  firstAt: new Float64Array(0),
  secondFile: new Int32Array(0),
  secondRank: new Int32Array(0),
  secondAt: new Float64Array(0),
});

export class LatestTwo {
  private columns = emptyColumns();

  resize(rows: number): void {
    this.columns = withRows(this.columns, rows);
  }

  add(row: number, file: number, rank: number, at: TraceNs): void {
    const { firstFile, firstRank, firstAt, secondFile, secondRank, secondAt } = this.columns;
    if (at <= secondAt[row]!) return;
    if (at <= firstAt[row]!) {
      secondFile[row] = file;
      secondRank[row] = rank;
      secondAt[row] = at;
      return;
    }
    secondFile[row] = firstFile[row]!;
    secondRank[row] = firstRank[row]!;
    secondAt[row] = firstAt[row]!;
    firstFile[row] = file;
    firstRank[row] = rank;
    firstAt[row] = at;
  }

  /** The latest time of another rank than this one; null: no other came. */
  but(row: number, file: number, rank: number): TraceNs | null {
    const { firstFile, firstRank, firstAt, secondAt } = this.columns;
    const isOther = firstFile[row] !== file || firstRank[row] !== rank;
    const at = isOther ? firstAt[row]! : secondAt[row]!;
    return Number.isNaN(at) ? null : (at as TraceNs);
  }
}
