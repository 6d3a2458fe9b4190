/**
 * Which slots of a ring or chunk are committed, written from the text of schemas/rank-file.md and apart from the kernel, which the tests hold
 * to it.
 */

import { slotCheck } from '../../../src/rankfile/format/slot.js';
import type { Stretch } from '../../../src/rankfile/slots.js';

/** In `position`: never written. */
const EMPTY = -1;
/** In `position`: neither empty nor valid. */
const TORN = -2;

export interface CheckedSlots {
  /** Eight 32-bit words per slot. */
  readonly words: Uint32Array;
  /** By index: the position, or EMPTY, or TORN. */
  readonly position: Float64Array;
  readonly tornSlots: number;
}

/** `words` has fewer slots than the capacity if the file ends early. `position`: memory for the result. */
export function checkRing(
  words: Uint32Array,
  capacity: number,
  head: number,
  position = new Float64Array(Math.min(capacity, Math.floor(words.length / 8))),
): CheckedSlots {
  const count = position.length;
  const headLow = head % 0x1000000;
  const headHigh = Math.floor(head / 0x1000000);
  let tornSlots = 0;

  for (let index = 0, at = 0; index < count; index++, at += 8) {
    const low = words[at + 6]!;
    const high = words[at + 7]!;
    if ((low & 0xff) === 0 && isZero(words, at)) {
      position[index] = EMPTY;
      continue;
    }
    const stored = (low >>> 16) | ((high & 0xff) << 16);
    // The distance to the head in 24-bit arithmetic, sign-extended; then p's multiple of 2^24.
    const near = headLow + (((stored - headLow) << 8) >> 8);
    const upper = headHigh + (near >> 24);
    const plausible = isPart(low) && (stored & (capacity - 1)) === index && upper >= 0 && upper < 0x1000000;
    if (plausible && slotCheckAt(words, at, (upper << 8) | (high & 0xff)) === high >>> 8) {
      position[index] = upper * 0x1000000 + stored;
    } else {
      position[index] = TORN;
      tornSlots++;
    }
  }
  return { words, position, tornSlots };
}

/** The slots of a chunk, with consecutive positions from `first` on. */
export function checkChunk(words: Uint32Array, first: number): CheckedSlots {
  const count = Math.floor(words.length / 8);
  const position = new Float64Array(count);
  let tornSlots = 0;
  for (let index = 0, at = 0; index < count; index++, at += 8) {
    const low = words[at + 6]!;
    const high = words[at + 7]!;
    const expected = first + index;
    const stored = (low >>> 16) | ((high & 0xff) << 16);
    const plausible = isPart(low) && stored === expected % 0x1000000;
    if (plausible && slotCheckAt(words, at, Math.floor(expected / 0x10000) >>> 0) === high >>> 8) {
      position[index] = expected;
    } else if (isZero(words, at)) {
      position[index] = EMPTY;
    } else {
      position[index] = TORN;
      tornSlots++;
    }
  }
  return { words, position, tornSlots };
}

/** `low`: low half of word 3. */
const isPart = (low: number): boolean => (low & 0xff) !== 0 && ((low >>> 8) & 15) < ((low >>> 12) & 15);

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

/** All valid slots by position: a wrapped ring gives two stretches, a live copy or torn slots more. */
export function stretches({ position }: CheckedSlots): Stretch[] {
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
