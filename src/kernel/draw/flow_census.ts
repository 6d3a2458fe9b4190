/**
 * The arrow ends that a rank has drawn: ranges of steps per operation, a row each. The ends of all ranks together give the number of
 * arrows (src/trace/tracks/flow_census.ts), and no single step is kept.
 */

import { FlowEndRow } from '../result_rows';
import { RowBlocks } from '../row_blocks';

export class FlowCensus {
  readonly rows: RowBlocks<FlowEndRow> = new RowBlocks<FlowEndRow>();

  /** Begins an operation's end here: the row of its first step. */
  begin(operation: f64, isSend: f64): i32 {
    const row = this.rows.add();
    row.operation = operation;
    row.sends = isSend;
    row.from = row.end = 0;
    return this.rows.length - 1;
  }

  /** Returns the row of the operation's next step. */
  step(place: i32, step: u32): i32 {
    let row = this.rows.at(place);
    let used = place;
    if (row.end != 0 && row.end != <f64>step) {
      used = this.begin(row.operation, row.sends);
      row = this.rows.at(used);
    }
    if (row.end == 0) row.from = step;
    row.end = <f64>(step + 1);
    return used;
  }
}
