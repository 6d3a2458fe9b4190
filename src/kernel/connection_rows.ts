/** The network transfers of a connection that the scan keeps. step_rows.ts writes them; it says what a row has. */

import { KeptStepsRow } from './result_rows';

/** Rows of a block: few, because many connections have few. Also in src/scan/scanned_transfers.ts. */
export const BLOCK_ROWS: i32 = 32;
const ROW_BYTES: usize = 80;

/** One end of a connection. */
export class ConnectionRows extends KeptStepsRow {
  /** First steps, and later ones: how many are kept. */
  readonly counts: StaticArray<i32> = new StaticArray<i32>(2);
  private readonly blocks: usize[] = [];

  /** `comm`: the first communicator of the table with this id and rank. */
  constructor(comm: i32, channel: i32, peer: i32, isSend: bool) {
    super();
    this.comm = comm;
    this.channel = channel;
    this.peer = peer;
    this.isSend = isSend ? 1 : 0;
  }

  get rows(): i32 {
    return this.counts[0] + this.counts[1];
  }

  at(row: i32): usize {
    return this.blocks[row / BLOCK_ROWS] + <usize>(row % BLOCK_ROWS) * ROW_BYTES;
  }

  /** The row after the last one. */
  next(): usize {
    const rows = this.rows;
    if (rows / BLOCK_ROWS == this.blocks.length) this.blocks.push(heap.alloc(ROW_BYTES * BLOCK_ROWS));
    return this.at(rows);
  }

  /** Keeps half of the share in place, in the order in which the rows came. */
  halve(kind: i32): void {
    if (kind == 0) this.halvedFirst += 1;
    else this.halvedLater += 1;
    const rows = this.rows;
    let kept = 0;
    for (let row = 0; row < rows; row++) {
      const from = this.at(row);
      if (!this.keeps(<u32>load<f64>(from), <u32>load<f64>(from, 8))) continue;
      if (kept != row) memory.copy(this.at(kept), from, ROW_BYTES);
      kept++;
    }
    this.counts[kind] -= rows - kept;
  }

  /**
   * Which transfers a scan keeps if there are too many: a share of each connection, one half, one quarter and so on. Both ends of a transfer
   * decide in the same way without knowing each other, because the choice depends on the transfer's own numbers. First steps of operations and
   * later steps have separate shares, because on one host only the first ones count.
   */
  keeps(ordinal: u32, step: u32): bool {
    const halvings = step == 0 ? this.halvedFirst : this.halvedLater;
    if (halvings == 0) return true;
    let hash = (ordinal * 0x9e3779b1) ^ (step * 0x85ebca77);
    hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
    return <f64>clz<u32>(hash ^ (hash >> 16)) >= halvings;
  }
}
