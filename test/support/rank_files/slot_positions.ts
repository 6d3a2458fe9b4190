/** Where the slots of a ring in a recorded file belong, from the text of schemas/rank-file.md and apart from the kernel. */

import { slotCheck } from '../../../src/rankfile/format/slot.js';

/** Never written. */
const EMPTY = -1;
/** Neither empty nor valid. */
const TORN = -2;

/** By index: the position of the slot, negative where it is empty or torn. `words`: eight per slot. */
export function positionsIn(words: Uint32Array, capacity: number, head: number): Float64Array {
  const headLow = head % 0x1000000;
  const headHigh = Math.floor(head / 0x1000000);
  return Float64Array.from({ length: capacity }, (_, index) => {
    const at = index * 8;
    const low = words[at + 6]!;
    const high = words[at + 7]!;
    if ((low & 0xff) === 0 && isZero(words, at)) return EMPTY;
    const stored = (low >>> 16) | ((high & 0xff) << 16);
    // The distance to the head in 24-bit arithmetic, sign-extended; then p's multiple of 2^24.
    const near = headLow + (((stored - headLow) << 8) >> 8);
    const upper = headHigh + (near >> 24);
    const plausible = isPart(low) && (stored & (capacity - 1)) === index && upper >= 0 && upper < 0x1000000;
    const isWhole = plausible && slotCheckAt(words, at, (upper << 8) | (high & 0xff)) === high >>> 8;
    return isWhole ? upper * 0x1000000 + stored : TORN;
  });
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
