/** Totals of one file's network transfers by connection, to which transfers.ts adds. */

import { ConnectionTotalsRow, SizeRow } from './result_rows';
import { TimeCounter } from './time_counter';
import { Sender } from './wire';

export const TIME_BINS: i32 = 48 * 4;
/** Bins over time: enough to distinguish a drift from a change. */
export const BINS: i32 = 16;

/** Sends of one size. */
export class SizeTotals extends SizeRow {
  /** Number and sum of the times, by the time of their end. */
  readonly ended: TimeCounter = new TimeCounter(BINS, 2);
  /** Times on the wire in bins. null: there are too many sizes, or the wire is not known. */
  times: StaticArray<u32> | null = null;

  constructor(bytes: f64) {
    super();
    this.bytes = bytes;
  }
}

/** One end of a connection. */
export class EndTotals extends ConnectionTotalsRow {
  /** Of sends. */
  readonly sizes: SizeTotals[] = [];
  /** null: it has sent nothing, or its communicator is not known. */
  sender: Sender | null = null;

  constructor(comm: i32, channel: i32, peer: i32, isSend: bool) {
    super();
    this.comm = comm;
    this.channel = channel;
    this.peer = peer;
    this.isSend = isSend ? 1 : 0;
  }
}
