/** Slots, their check and areas of slots, written from the text of schemas/rank-file.md. */

import * as format from '../../../src/rankfile/format/constants.js';

export const MASK_64 = (1n << 64n) - 1n;

const rotateLeft = (word: bigint, bits: bigint): bigint =>
  ((word << bits) | (word >> (64n - bits))) & MASK_64;

/** Word 3 by the text of schemas/rank-file.md, on whole 64-bit words. */
export function word3(
  words: readonly bigint[],
  kind: number,
  part: number,
  parts: number,
  position: number,
): bigint {
  const meta = BigInt(kind) | (BigInt(part) << 8n) | (BigInt(parts) << 12n) | (BigInt(position) << 16n);
  const mixed = words[0]! ^ rotateLeft(words[1]!, 21n) ^ rotateLeft(words[2]!, 42n) ^ meta;
  let hash = ((mixed & 0xffffffffn) * 0x9e3779b1n + (mixed >> 32n) * 0x85ebca77n) & 0xffffffffn;
  hash ^= hash >> 15n;
  hash = (hash * 0xc2b2ae3dn) & 0xffffffffn;
  return (meta & ((1n << 40n) - 1n)) | ((hash >> 8n) << 40n);
}

/** Slots and a head. 'grows': a table, whose capacity doubles when needed. 'wraps': a ring. */
export class SlotArea {
  private slots: BigUint64Array;
  head = 0;
  /** How far the head in the file lags behind. */
  stale = 0;
  readonly counters = { folded: 0, muted: 0, nullCalls: 0, ordinalsLost: 0 };

  constructor(
    capacity: number,
    private readonly whenFull: 'grows' | 'wraps',
  ) {
    this.slots = new BigUint64Array(capacity * 4);
  }

  get capacity(): number {
    return this.slots.length / 4;
  }

  append(kind: number, words: readonly bigint[]): number {
    const position = this.head;
    this.write(position, kind, words);
    return position;
  }

  /** `words`: three per slot. */
  write(position: number, kind: number, words: readonly bigint[]): void {
    const parts = words.length / 3;
    while (this.whenFull === 'grows' && position + parts > this.capacity) {
      const larger = new BigUint64Array(this.slots.length * 2);
      larger.set(this.slots);
      this.slots = larger;
    }
    for (let part = 0; part < parts; part++) {
      const payload = words.slice(part * 3, part * 3 + 3).map((word) => BigInt.asUintN(64, word));
      const at = ((position + part) % this.capacity) * 4;
      this.slots.set([...payload, word3(payload, kind, part, parts, position + part)], at);
    }
    this.head = Math.max(this.head, position + parts);
  }

  /** Changes one word of the slot at a position (default: word 1), as a store that never arrived would. */
  tear(position: number, word = 1, value?: bigint): void {
    const at = (position % this.capacity) * 4 + word;
    this.slots[at] = value ?? BigInt.asUintN(64, ~this.slots[at]!);
  }

  /** The current bytes at the places of positions [from, end). */
  bytesAt(from: number, end: number): Uint8Array {
    const bytes = new Uint8Array((end - from) * format.SLOT_BYTES);
    const slots = new Uint8Array(this.slots.buffer);
    for (let position = from; position < end; position++) {
      const at = (position % this.capacity) * format.SLOT_BYTES;
      bytes.set(slots.subarray(at, at + format.SLOT_BYTES), (position - from) * format.SLOT_BYTES);
    }
    return bytes;
  }

  copyTo(file: Uint8Array, liveOffset: number, slotsOffset: number): void {
    const live = new DataView(file.buffer, liveOffset, format.AREA_LIVE_BYTES);
    const u64 = (offset: number, value: number): void => {
      live.setBigUint64(offset, BigInt(value), true);
    };
    u64(format.AREA_LIVE.head, Math.max(0, this.head - this.stale));
    u64(format.AREA_LIVE.folded, this.counters.folded);
    u64(format.AREA_LIVE.muted, this.counters.muted);
    u64(format.AREA_LIVE.nullCalls, this.counters.nullCalls);
    u64(format.AREA_LIVE.ordinalsLost, this.counters.ordinalsLost);
    file.set(new Uint8Array(this.slots.buffer), slotsOffset);
  }
}
