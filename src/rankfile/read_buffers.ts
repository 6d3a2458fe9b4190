/**
 * Memory for large reads, used again when the file they came from is closed. A ring is 64 MB: fresh memory for each file costs the
 * system a page fault every 4 KB and the garbage collector a full round, a quarter of what looking at a file takes.
 */

import { append } from '../base/extremes.js';

/** Smaller ones are cheaper to make anew. */
const LARGE = 1 << 20;
/** What is kept between files, at most, per thread. */
const MOST_KEPT = 160 << 20;

const spare: ArrayBuffer[] = [];

export class ReadBuffers {
  private readonly lent: ArrayBuffer[] = [];

  /** Not cleared: the caller fills it. */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes < LARGE) return new Uint8Array(bytes);
    const fitting = spare.findIndex(({ byteLength }) => byteLength >= bytes);
    const buffer = fitting < 0 ? new ArrayBuffer(bytes) : spare.splice(fitting, 1)[0]!;
    this.lent.push(buffer);
    return new Uint8Array(buffer, 0, bytes);
  }

  /** Nobody looks at what was taken any more. */
  giveBack(): void {
    append(spare, this.lent.splice(0));
    spare.sort((a, b) => a.byteLength - b.byteLength);
    while (spare.reduce((sum, { byteLength }) => sum + byteLength, 0) > MOST_KEPT) spare.pop();
  }
}
