/**
 * Which slots of an area are committed, and at which position: the loop that reads every byte of a rank file, so it
 * allocates nothing per slot and works on 32-bit halves.
 *
 * A slot at index i stores 24 bits of its position p. The head is a hint of where the producer was, right to within
 * 2^23 either way; so p is the position nearest to the head with those 24 bits. It counts only if p mod capacity is
 * i and the check holds for all 48 bits of p. In a live copy the slots lie on both sides of the head, and of several
 * laps: each stands where its own position says.
 */

import { slotCheck } from '../format/slot.js';

/** In `position`: never written. */
export const EMPTY = -1;
/** In `position`: neither empty nor valid. */
export const TORN = -2;

export interface CheckedSlots {
  /** Eight 32-bit words per slot. May hold fewer slots than the capacity when the file ends early. */
  readonly words: Uint32Array;
  readonly capacity: number;
  /** By index: the position, or EMPTY, or TORN. */
  readonly position: Float64Array;
  readonly tornSlots: number;
  /** Valid slots that begin a record, and valid slots that continue one. */
  readonly firstParts: number;
  readonly laterParts: number;
}

export function checkSlots(words: Uint32Array, capacity: number, head: number): CheckedSlots {
  const count = Math.min(capacity, Math.floor(words.length / 8));
  const position = new Float64Array(count);
  const headLow = head % 0x1000000;
  const headHigh = Math.floor(head / 0x1000000);
  let tornSlots = 0;
  let firstParts = 0;
  let laterParts = 0;

  for (let index = 0, at = 0; index < count; index++, at += 8) {
    const low = words[at + 6]!;
    const high = words[at + 7]!;
    if ((low & 0xff) === 0 && isZero(words, at)) {
      position[index] = EMPTY;
      continue;
    }
    const stored = (low >>> 16) | ((high & 0xff) << 16);
    // The distance to the head in 24-bit arithmetic, sign-extended; then which 2^24 positions p lies in.
    const near = headLow + (((stored - headLow) << 8) >> 8);
    const upper = headHigh + (near >> 24);
    const part = (low >>> 8) & 15;
    const parts = (low >>> 12) & 15;
    const plausible =
      (low & 0xff) !== 0 &&
      part < parts &&
      (stored & (capacity - 1)) === index &&
      upper >= 0 &&
      upper < 0x1000000;
    if (plausible && slotCheckAt(words, at, (upper << 8) | (high & 0xff)) === high >>> 8) {
      position[index] = upper * 0x1000000 + stored;
      if (part === 0) firstParts++;
      else laterParts++;
    } else {
      position[index] = TORN;
      tornSlots++;
    }
  }
  return { words, capacity, position, tornSlots, firstParts, laterParts };
}

const slotCheckAt = (words: Uint32Array, at: number, metaHigh: number): number =>
  slotCheck(
    words[at]!,
    words[at + 1]!,
    words[at + 2]!,
    words[at + 3]!,
    words[at + 4]!,
    words[at + 5]!,
    words[at + 6]!,
    metaHigh,
  );

function isZero(words: Uint32Array, at: number): boolean {
  for (let i = at; i < at + 8; i++) if (words[i] !== 0) return false;
  return true;
}

/** Consecutive positions at consecutive indices. */
export interface Stretch {
  readonly position: number;
  readonly index: number;
  readonly length: number;
}

/** All valid slots in order of position: a wrapped ring gives two, a live copy or torn slots some more. */
export function stretches(slots: CheckedSlots): Stretch[] {
  const { position } = slots;
  const found: Stretch[] = [];
  let start = 0;
  for (let index = 0; index <= position.length; index++) {
    const continues =
      index > start && index < position.length && position[index] === position[index - 1]! + 1;
    if (continues && position[start]! >= 0) continue;
    if (index > start && position[start]! >= 0)
      found.push({ position: position[start]!, index: start, length: index - start });
    start = index;
  }
  return found.sort((a, b) => a.position - b.position);
}
