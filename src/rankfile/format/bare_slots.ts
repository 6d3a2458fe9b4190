/**
 * Slots of a decompressed chunk of codec ZstdBare or ZstdPlanes lack the fields that can be computed. This file adds these fields again.
 * See schemas/rank-file.md, "Codec".
 */

import { metaHigh, metaLow, slotCheck, word3High } from './slot.js';

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
