/**
 * Packets are written into one buffer. A full buffer is passed on as a chunk, and used again. So any trace needs the memory of one chunk,
 * and a chunk has only whole packets. An unfinished packet lies after `end`, and is not part of the output before it is committed.
 */

/** With the packet that fills it, it fits into one zstd frame (compression.ts). */
export const CHUNK_BYTES = (4 << 20) - (64 << 10);

/** Most blocks of a large job are small. */
const FIRST_BYTES = 64 << 10;

/** Free bytes at the start of every packet and after every `reserve`: all fixed parts of one packet. */
const SLACK = 1024;

/** Must read or copy a chunk at once, because the writer uses its memory again. */
export type Output = (chunk: Uint8Array) => void;

export class Chunks {
  bytes = new Uint8Array(FIRST_BYTES + SLACK);
  /** Where the next packet begins. */
  end = 0;
  private sent = 0;

  constructor(private readonly output: Output) {}

  /** Makes room for `size` bytes at `at` within a packet, beyond the usual slack. `bytes` may change. */
  reserve(at: number, size: number): void {
    const needed = at + size + SLACK;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, at));
    this.bytes = larger;
  }

  /** Completes the packet that began at the old `end`. */
  commit(end: number): void {
    this.end = end;
    if (end >= CHUNK_BYTES) this.flush();
    else this.reserve(end, 0);
  }

  append(packets: Uint8Array): void {
    this.reserve(this.end, packets.length);
    this.bytes.set(packets, this.end);
    this.commit(this.end + packets.length);
  }

  flush(): void {
    if (this.end === 0) return;
    this.sent += this.end;
    const chunk = this.bytes.subarray(0, this.end);
    this.end = 0;
    this.output(chunk);
  }

  /** Bytes passed on or buffered. */
  get total(): number {
    return this.sent + this.end;
  }
}
