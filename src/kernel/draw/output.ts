/**
 * Packets are written into one buffer. A full buffer is passed on as a chunk, and used again. So any trace needs the memory of one chunk,
 * and a chunk has only whole packets. An unfinished packet lies after `end`, and is not part of the output before it is committed.
 */

import { passOn } from './host';

/** With the packet that fills it, it fits into one zstd frame (src/trace/compression.ts). */
const CHUNK_BYTES: usize = (4 << 20) - (64 << 10);
/** Most blocks of a large job are small. */
const FIRST_BYTES: usize = 64 << 10;

export class Output {
  /** Where the next packet begins. */
  end: usize;
  private start: usize = heap.alloc(FIRST_BYTES);
  private limit: usize = this.start + FIRST_BYTES;
  private sent: f64 = 0;

  constructor() {
    this.end = this.start;
  }

  /** Bytes passed on or buffered. */
  get total(): f64 {
    return this.sent + <f64>(this.end - this.start);
  }

  /** Makes room for a packet. `end` may change. */
  reserve(bytes: usize): void {
    if (this.end + bytes <= this.limit) return;
    const used = this.end - this.start;
    const room = max(used + bytes, 4 * (this.limit - this.start));
    const larger = heap.alloc(room);
    memory.copy(larger, this.start, used);
    this.start = larger;
    this.end = larger + used;
    this.limit = larger + room;
  }

  /** Completes the packet that began at the old `end`. */
  commit(end: usize): void {
    this.end = end;
    if (end - this.start >= CHUNK_BYTES) this.flush();
  }

  flush(): void {
    const length = this.end - this.start;
    if (length == 0) return;
    this.sent += <f64>length;
    this.end = this.start;
    passOn(this.start, <i32>length);
  }
}
