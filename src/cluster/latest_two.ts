/** For each row of a table: the two latest times, from different ranks. They show how long all others waited for one rank alone. */

import { placeOf, RowBlocks, type PackedColumns } from '../base/columns.js';
import { numberAt } from '../base/packed_numbers.js';
import type { TraceNs } from '../base/time.js';

/** NaN is the time of a rank that has not come. */
const COLUMNS = {
  firstFile: new Int32Array(0),
  firstRank: new Int32Array(0),
  firstAt: new Float64Array(0),
  secondFile: new Int32Array(0),
  secondRank: new Int32Array(0),
  secondAt: new Float64Array(0),
};

export class LatestTwo {
  private readonly blocks = new RowBlocks(COLUMNS);

  /** Adds the row if it does not exist. */
  add(row: number, file: number, rank: number, at: TraceNs): void {
    this.blocks.growTo(row + 1);
    const { firstFile, firstRank, firstAt, secondFile, secondRank, secondAt } = this.blocks.holding(row);
    const place = placeOf(row);
    if (at <= secondAt[place]!) return;
    if (at <= firstAt[place]!) {
      secondFile[place] = file;
      secondRank[place] = rank;
      secondAt[place] = at;
      return;
    }
    secondFile[place] = firstFile[place]!;
    secondRank[place] = firstRank[place]!;
    secondAt[place] = firstAt[place]!;
    firstFile[place] = file;
    firstRank[place] = rank;
    firstAt[place] = at;
  }

  close(): TwoLatest {
    return new TwoLatest(this.blocks.pack());
  }
}

/** The two latest times when all times are known. */
export class TwoLatest {
  constructor(private readonly columns: PackedColumns<typeof COLUMNS>) {}

  /** The latest time of another rank than this one; null: no other came. */
  but(row: number, file: number, rank: number): TraceNs | null {
    const { firstFile, firstRank, firstAt, secondAt } = this.columns;
    const isOther = numberAt(firstFile, row) !== file || numberAt(firstRank, row) !== rank;
    const at = numberAt(isOther ? firstAt : secondAt, row);
    return Number.isNaN(at) ? null : (at as TraceNs);
  }
}
