/**
 * Memory for what is kept of one file while it is worked on: its rings, the rows of its steps. The next file uses it again. A ring is up to
 * 64 MB. New memory for each file costs a page fault every 4 KB and a full garbage collection. Together these take a quarter of the time to
 * read a file.
 *
 * Not for chunks: a file has any number of them, and this memory is free again only when the file is closed.
 */

import { append } from './extremes.js';

/** Areas of at most this size share a buffer. */
const SHARED = 1 << 20;
/** Limit of the bytes that each thread keeps between files. */
const MOST_KEPT = 160 << 20;

const spare: ArrayBuffer[] = [];

export class FileMemory {
  private readonly lent: ArrayBuffer[] = [];
  /** The newest buffer is taken up to here. */
  private used = Infinity;

  /** Not cleared: the caller fills it. It begins at a multiple of 8. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    const at = this.room(length);
    return new Uint8Array(this.lent.at(-1)!, at, length);
  }

  /** Not cleared. */
  doubles(length: number): Float64Array<ArrayBuffer> {
    const at = this.room(length * 8);
    return new Float64Array(this.lent.at(-1)!, at, length);
  }

  /** Called when nothing of it is in use any more. */
  release(): void {
    this.used = Infinity;
    append(spare, this.lent.splice(0));
    spare.sort((a, b) => a.byteLength - b.byteLength);
    while (spare.reduce((sum, { byteLength }) => sum + byteLength, 0) > MOST_KEPT) spare.pop();
  }

  /** Where in the newest buffer. */
  private room(bytes: number): number {
    const newest = this.lent.at(-1);
    if (newest === undefined || this.used + bytes > newest.byteLength) {
      this.lent.push(take(Math.max(bytes, SHARED)));
      this.used = 0;
    }
    const at = this.used;
    this.used = Math.ceil((at + bytes) / 8) * 8;
    return at;
  }
}

function take(bytes: number): ArrayBuffer {
  const fitting = spare.findIndex(({ byteLength }) => byteLength >= bytes);
  return fitting < 0 ? new ArrayBuffer(bytes) : spare.splice(fitting, 1)[0]!;
}
