/**
 * Reads the rows of one end of a connection, a block at a time, and passes over blocks without reading them. Rows come nearly in the
 * order of their keys (operation, then step): a row stands at most `DISORDER` rows from its place, because NCCL works on several
 * operations of a connection at once. It does not know what a row means beyond its key.
 */

import { readSync } from 'node:fs';
import { BLOCK_ROWS, ROW_WIDTH, STEP_ROW, type StepRows } from '../../scan/step_file.js';

/** More steps than an operation ever has. */
const STEPS = 2 ** 22;

/** Orders the rows of a connection, and is the same at both ends. */
export const stepKey = (rows: Float64Array, at = 0): number =>
  rows[at + STEP_ROW.ordinal]! * STEPS + rows[at + STEP_ROW.step]!;

/** Rows between a row and the place that its key gives it, at most. */
const DISORDER = 2 * BLOCK_ROWS;

/**
 * So many blocks are read before the one that a key leads to: the key's own row, the first row of that block, the row that is looked
 * for and its other end may all be out of place.
 */
export const DISORDER_BLOCKS = (4 * DISORDER) / BLOCK_ROWS;

export class StepCursor {
  private next = 0;
  private readonly buffer = new Float64Array(BLOCK_ROWS * ROW_WIDTH);

  constructor(
    private readonly fd: number,
    private readonly end: StepRows,
  ) {}

  /** The next block. The buffer is the same every time. */
  read(): Float64Array | null {
    const block = this.end.blocks[this.next];
    if (block === undefined) return null;
    this.next++;
    const rows = this.buffer.subarray(0, block[1] * ROW_WIDTH);
    this.fill(rows, block[0]);
    return rows;
  }

  /** The key of the next row. Infinity: there is none. */
  peek(): number {
    return this.next < this.end.blocks.length ? this.firstKey(this.next) : Infinity;
  }

  /** Passes over blocks in which all keys are lower. Returns how many rows they have. */
  passTo(key: number): number {
    const { blocks } = this.end;
    // Doubling steps find the neighbourhood, halving steps the block: most often it is the next one.
    let known = this.next;
    let width = 1;
    while (known + width < blocks.length && this.firstKey(known + width) <= key) {
      known += width;
      width *= 2;
    }
    for (; width >= 1; width /= 2)
      if (known + width < blocks.length && this.firstKey(known + width) <= key) known += width;
    return this.passBlocks(known - DISORDER_BLOCKS);
  }

  /** Passes over all that is left. */
  passAll(): number {
    return this.passBlocks(this.end.blocks.length);
  }

  private passBlocks(until: number): number {
    let rows = 0;
    for (; this.next < until; this.next++) rows += this.end.blocks[this.next]![1];
    return rows;
  }

  private firstKey(block: number): number {
    this.fill(HEAD, this.end.blocks[block]![0]);
    return stepKey(HEAD);
  }

  private fill(target: Float64Array, offset: number): void {
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    for (let at = 0; at < bytes.length;) {
      const read = readSync(this.fd, bytes, at, bytes.length - at, offset + at);
      if (read === 0) throw new Error('a side file of the scan was cut short');
      at += read;
    }
  }
}

/** What of a row names it. */
const HEAD = new Float64Array(Math.max(STEP_ROW.ordinal, STEP_ROW.step) + 1);
