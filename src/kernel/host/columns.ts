/** Records of a segment in columns, copied from the kernel (src/kernel/columns.ts). */

import type { RecordColumns } from '../../rankfile/file_types.js';
import type { KernelExports } from './load.js';

/** Slots of a segment at most. */
const SEGMENT_SLOTS = 4096;

/** As src/kernel/columns.ts has them. */
const ROWS = SEGMENT_SLOTS + 1;
const EXTRA = (SEGMENT_SLOTS + 14) * 6;
const TICK = 8 * ROWS;
const WORDS = 16 * ROWS;
const EXTRA_START = 32 * ROWS;
const EXTRA_WORDS = EXTRA_START + 4 * (ROWS + 1);
const KIND = EXTRA_WORDS + 4 * EXTRA;

/** Each thread keeps this many for the next file: as many as a file has rings. */
const MOST_KEPT = 64;
const spare: ColumnSpace[] = [];

export const freeColumns = (): ColumnSpace => spare.pop() ?? new ColumnSpace();

/** Memory for the records of a segment, which the next segment uses again. New memory for each costs a page fault every 4 KB. */
export class ColumnSpace implements RecordColumns {
  length = 0;
  readonly position = new Float64Array(ROWS);
  readonly tick = new Float64Array(ROWS);
  readonly kind = new Uint8Array(ROWS);
  readonly word1Low = new Uint32Array(ROWS);
  readonly word1High = new Uint32Array(ROWS);
  readonly word2Low = new Uint32Array(ROWS);
  readonly word2High = new Uint32Array(ROWS);
  readonly extraStart = new Uint32Array(ROWS + 1);
  readonly extra = new Uint32Array(EXTRA);

  /** The records of the ring's newest segment. */
  take(kernel: KernelExports, ring: number, records: number): RecordColumns {
    const at = kernel.columnsOf(ring);
    const { buffer } = kernel.memory;
    this.length = records;
    this.position.set(new Float64Array(buffer, at, records));
    this.tick.set(new Float64Array(buffer, at + TICK, records));
    const words = [this.word1Low, this.word1High, this.word2Low, this.word2High];
    words.forEach((column, i) => {
      column.set(new Uint32Array(buffer, at + WORDS + 4 * ROWS * i, records));
    });
    this.extraStart.set(new Uint32Array(buffer, at + EXTRA_START, records + 1));
    this.extra.set(new Uint32Array(buffer, at + EXTRA_WORDS, this.extraStart[records]));
    this.kind.set(new Uint8Array(buffer, at + KIND, records));
    return this;
  }

  /** Its records are no longer in use. */
  release(): void {
    if (spare.length < MOST_KEPT) spare.push(this);
  }
}
