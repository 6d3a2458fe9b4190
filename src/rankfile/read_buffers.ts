/**
 * Memory for large reads. It is used again when its file is closed. A ring is 64 MB. New memory for each file costs a page fault every 4 KB
 * and a full garbage collection. Together these take a quarter of the time to read a file.
 */

import { append } from '../base/extremes.js';
import { MAX_CHUNK_RAW_BYTES } from './format/constants.js';

/**
 * Smaller buffers are cheaper to make again. Chunks must stay below this size: a file has any number of chunks, and a buffer is only free
 * again when the file is closed.
 */
const LARGE = MAX_CHUNK_RAW_BYTES + 1;
/** Limit of the bytes that each thread keeps between files. */
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

  /** Called when the taken buffers are no longer in use. */
  release(): void {
    append(spare, this.lent.splice(0));
    spare.sort((a, b) => a.byteLength - b.byteLength);
    while (spare.reduce((sum, { byteLength }) => sum + byteLength, 0) > MOST_KEPT) spare.pop();
  }
}
