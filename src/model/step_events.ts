/**
 * What happened to steps, in the order of one ring: rows of columns. Four of five records are of steps, so a listener gets a batch of them
 * and goes through it in a loop of its own.
 */

import type { StepTable } from './step_table.js';

/** What happened: the step began, entered one of its phases (StepPhase 1 to 6), or stopped. */
export const STARTED = 0;
/** NCCL stopped it. */
export const STOPPED = 7;
/** Its operation stopped without it. */
export const LEFT = 8;

const ROWS = 1024;

export class StepEvents {
  length = 0;
  /** STARTED, a StepPhase, STOPPED, LEFT. */
  readonly what = new Uint8Array(ROWS);
  /** Row of the step table. */
  readonly row = new Uint32Array(ROWS);
  /** Ticks. When it happened. */
  readonly at = new Float64Array(ROWS);
  /** Ticks. For a phase: its begin, at or before `at`. */
  readonly from = new Float64Array(ROWS);

  get isFull(): boolean {
    return this.length === ROWS;
  }

  add(what: number, row: number, at: number, from: number): void {
    const i = this.length++;
    this.what[i] = what;
    this.row[i] = row;
    this.at[i] = at;
    this.from[i] = from;
  }
}

export interface StepListener {
  /**
   * The table's rows have their state after all these events. They are not reused before this returns. Nothing else is reported between the
   * events of one batch.
   */
  steps(table: StepTable, events: StepEvents): void;
}
