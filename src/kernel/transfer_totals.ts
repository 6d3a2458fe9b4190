/** Totals of one file's network transfers by connection and by function, to which transfers.ts adds. */

import { CallTotalsRow } from './result_rows';
import { TimeCounter } from './time_counter';
import { Sender } from './wire';

/** Kinds of waits (`Waited` of transfers.ts). */
export const WAITS: i32 = 5;
export const TIME_BINS: i32 = 48 * 4;
/** Bins over time: enough to distinguish a drift from a change. */
export const BINS: i32 = 16;

/** Sends of one size; -1: not reported, up to interface v3. */
export class SizeTotals {
  /** Those with a size, since their last poll, as in `ended`. */
  sumOfSquares: f64 = 0;
  least: f64 = Infinity;
  /** Number and sum of the times, by the time of their end. */
  readonly ended: TimeCounter = new TimeCounter(BINS, 2);
  /** Times on the wire in bins, and the sum of their own times (wire.ts). null: there are too many sizes, or the wire is not known. */
  times: StaticArray<u32> | null = null;
  own: f64 = 0;

  constructor(readonly bytes: f64) {}
}

/** One end of a connection. */
export class EndTotals {
  transfers: f64 = 0;
  bytes: f64 = 0;
  readonly waits: StaticArray<f64> = new StaticArray<f64>(WAITS);
  /** Transfers that had not ended: their number, begin of the oldest one's wait, and the wait. */
  open: f64 = 0;
  openSince: f64 = 0;
  openWait: i32 = 0;
  /** Of sends. */
  readonly sizes: SizeTotals[] = [];
  /** Bytes of the operations that were seen to start and that are of this process: what chooses the counters that are drawn. */
  drawn: f64 = 0;
  /** null: it has sent nothing, or its communicator is not known. */
  sender: Sender | null = null;
  /** The send that was on the wire longest: how long, since when, and its step. */
  longest: f64 = 0;
  longestSince: f64 = 0;
  longestStep: i32 = 0;

  constructor(
    /** Number of the communicator; -1: not known, or another process's (PXN). */
    readonly comm: i32,
    readonly channel: i32,
    readonly peer: i32,
    readonly isSend: bool,
  ) {}
}

export class CallTotals extends CallTotalsRow {
  readonly waits: StaticArray<f64> = new StaticArray<f64>(WAITS);

  constructor(comm: i32, func: u32) {
    super();
    this.comm = comm;
    this.func = func;
  }
}
