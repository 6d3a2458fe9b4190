/**
 * When works ended, as the scan of all files knows (src/model/work_end_table.ts). The host writes the rows piece by piece, in the order in
 * which the works start.
 */

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

/** A time that is not known is NaN. */
@unmanaged
export class WorkEnd {
  outcome: f64;
  /**
   * Ticks: its last operation's end; when the end of its last block was noticed; when its communicator was finalized, or the file ended
   * (CutOff).
   */
  lastOp: f64;
  noticed: f64;
  until: f64;
  /** ns of the GPU's timer: its first start and last end. */
  firstStamp: f64;
  lastStamp: f64;
  /** Its sends that other processes execute: their number, ns of the trace when the last one ended, the processes (a text of the host). */
  executed: f64;
  executedEnd: f64;
  executors: f64;
}

/** Rows that the host writes at a time. */
export const WORK_ENDS: i32 = 1024;

export class WorkEnds {
  readonly rows: usize = heap.alloc(<usize>WORK_ENDS * offsetof<WorkEnd>());
  private first: i32 = -WORK_ENDS;

  of(row: i32): WorkEnd {
    if (row < this.first || row >= this.first + WORK_ENDS) {
      this.first = row;
      readWorkEnds(row);
    }
    return changetype<WorkEnd>(this.rows + <usize>(row - this.first) * offsetof<WorkEnd>());
  }
}
