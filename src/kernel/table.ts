/** Tables that the host sees as columns (`Columns` of src/kernel/host/numbers.ts). */

import { needRoom } from './room';
import { RowBlocks } from './row_blocks';

/** Rows of a class of result_rows.ts, column after column. */
export class Table<Row> {
  readonly start: usize;

  constructor(readonly rows: i32) {
    const bytes = <usize>rows * offsetof<Row>();
    needRoom(<f64>bytes);
    this.start = heap.alloc(bytes);
  }

  set(row: i32, values: Row): void {
    let to = this.start + ((<usize>row) << 3);
    for (let from: usize = 0; from < offsetof<Row>(); from += 8) {
      store<f64>(to, load<f64>(changetype<usize>(values) + from));
      to += (<usize>this.rows) << 3;
    }
  }
}

export function tableOf<Row>(rows: RowBlocks<Row>): Table<Row> {
  const table = new Table<Row>(rows.length);
  for (let row = 0; row < rows.length; row++) table.set(row, rows.at(row));
  return table;
}
