/** Slots of decompressed chunks, apart from the kernel: schemas/rank-file.md, "Codec". */

import { metaHigh, metaLow, slotCheck, word3High } from '../../../src/rankfile/format/slot.js';

const WORDS = 8; // halves of four words

/** In place. `halves`: whole slots, each word as its low and its high half. */
export function dressSlots(halves: Uint32Array, firstPosition: number): void {
  let lastLow = 0;
  let lastHigh = 0;
  for (let at = 0, position = firstPosition; at + WORDS <= halves.length; at += WORDS, position += 1) {
    const named = halves[at + 6]! & 0xffff; // kind, part, parts
    if ((named & 0xf00) === 0) {
      const sum = halves[at]! + lastLow;
      lastLow = sum >>> 0;
      lastHigh = (halves[at + 1]! + lastHigh + (sum > 0xffffffff ? 1 : 0)) >>> 0;
      halves[at] = lastLow;
      halves[at + 1] = lastHigh;
    }
    const low = metaLow(named, 0, 0, position % 0x10000);
    const check = slotCheck(
      halves[at]!,
      halves[at + 1]!,
      halves[at + 2]!,
      halves[at + 3]!,
      halves[at + 4]!,
      halves[at + 5]!,
      low,
      metaHigh(position),
    );
    halves[at + 6]! ^= low & 0xffff0000;
    halves[at + 7]! ^= word3High(check, position);
  }
}

/** Slots at a time, so few that the output and four planes of the input stay in a cache. */
const BLOCK = 64;

/** `planes`: 32 bytes per slot. Returns the halves of the slots' words. */
export function slotsOfPlanes(planes: Uint8Array): Uint32Array {
  const count = Math.floor(planes.length / (WORDS * 4));
  const halves = new Uint32Array(count * WORDS);
  for (let begin = 0; begin < count; begin += BLOCK) {
    const end = Math.min(begin + BLOCK, count);
    for (let word = 0; word < WORDS; word++) {
      const plane = word * 4 * count;
      for (let slot = begin; slot < end; slot++) {
        const at = plane + slot;
        halves[slot * WORDS + word] =
          planes[at]! |
          (planes[at + count]! << 8) |
          (planes[at + 2 * count]! << 16) |
          (planes[at + 3 * count]! << 24);
      }
    }
  }
  return halves;
}
