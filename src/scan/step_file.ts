/**
 * The network transfers that the scan keeps: all of them, for the clocks, or only the first one of each operation, if ranks are on one
 * counter and only arrows are checked. If there are more than mostRows, a share is kept (step_sample.ts). There is one row per step and
 * end. The rows are on disk, because a run has many files. Those of one rank file are sorted by connection, operation and step, so that the
 * two ends of a connection can be read side by side. A row is ten doubles (STEP_ROW). Ticks are the file's own.
 */

import { nearlySorted } from '../base/nearly_sorted.js';
import type { Halved } from './step_sample.js';

export const STEP_ROW = {
  /** Ordinal of the operation on its connection. */
  ordinal: 0,
  step: 1,
  /** Send: SIZE_LOST if it is not known. */
  bytes: 2,
  /** Hash of the facts about the operation that both ends know. 0: its work is not known. */
  check: 3,
  /** Send: the last state 20 before 9 (before interface v4 the start). Receive: the start. */
  before: 4,
  /** Send: state 9, or the stop if the size is SIZE_LOST. Receive: state 11. */
  seen: 5,
  /** Receive: the stop. Send: 0. */
  stop: 6,
  /** Send: polls of state 20. Receive: 0. */
  polls: 7,
  /** Number of the operation's steps. */
  steps: 8,
  /** 1: in the operation's protocol state 11 means arrival. 0: it may not. -1: its work is not known. */
  arrives: 9,
} as const;
export const ROW_WIDTH = 10;

/** One end of a connection in one file. */
export interface StepRows {
  readonly commId: bigint;
  readonly channel: number;
  /** Ranks in the communicator. */
  readonly source: number;
  readonly destination: number;
  readonly isSend: boolean;
  readonly rows: number;
  /** How many rows were not kept. */
  readonly sampledOut: number;
  /** Where they lie in the side file. */
  readonly offset: number;
  readonly halved: Halved;
}

/** A send's size if its record is lost. */
export const SIZE_LOST = -1;

/** More steps than an operation ever has. */
const STEPS = 2 ** 22;

/** The order of the rows of a connection, at both ends. */
export const stepKey = (rows: Float64Array, at: number): number =>
  rows[at + STEP_ROW.ordinal]! * STEPS + rows[at + STEP_ROW.step]!;

/** Sorts rows that are nearly in order, because NCCL works on several operations of a connection at once. */
export function inOrder(rows: Float64Array): Float64Array {
  const keys = new Float64Array(rows.length / ROW_WIDTH);
  let isSorted = true;
  for (let row = 0; row < keys.length; row++) {
    keys[row] = stepKey(rows, row * ROW_WIDTH);
    if (row > 0 && keys[row - 1]! > keys[row]!) isSorted = false;
  }
  if (isSorted) return rows;
  const order = new Uint32Array(keys.length);
  nearlySorted(keys, keys.length, order);
  const sorted = new Float64Array(rows.length);
  let to = 0;
  for (const row of order)
    for (let from = row * ROW_WIDTH; from < (row + 1) * ROW_WIDTH; from++) sorted[to++] = rows[from]!;
  return sorted;
}
