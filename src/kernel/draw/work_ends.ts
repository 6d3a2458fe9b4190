/**
 * When works ended, as the scan of all files knows (src/model/work_end_table.ts). The host writes the rows piece by piece, in the order in
 * which the works start.
 */

import { WorkEndRow } from '../result_rows';
import { readWorkEnds } from './host';

/** As src/model/work_end.ts numbers them. */
export const enum Outcome {
  Complete,
  Open,
  Aborted,
  NoChildren,
  Endless,
  OutsideWindow,
  EndLost,
  NotRead,
  CutOff,
}

/** Rows that the host writes at a time. */
export const WORK_ENDS: i32 = 1024;

export class WorkEnds {
  readonly rows: usize = heap.alloc(<usize>WORK_ENDS * offsetof<WorkEndRow>());
  private first: i32 = -WORK_ENDS;

  of(row: i32): WorkEndRow {
    if (row < this.first || row >= this.first + WORK_ENDS) {
      this.first = row;
      readWorkEnds(row);
    }
    return changetype<WorkEndRow>(this.rows + <usize>(row - this.first) * offsetof<WorkEndRow>());
  }
}
