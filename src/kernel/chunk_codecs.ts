/**
 * Slots of a decompressed chunk. A chunk of codec ZstdPlanes has byte 0 of all slots, then byte 1, up to byte 31. Slots of this codec and of
 * ZstdBare are bare: they lack the fields that can be computed. See schemas/rank-file.md, "Codec".
 */

import { SLOT_BYTES } from './numbers';
import { checkOf } from './slots';

/** Slots at a time, so few that the output and the planes of a word stay in a cache. */
const BLOCK: i32 = 64;

export function slotsOfPlanes(planes: usize, count: i32, slots: usize): void {
  const plane = usize(count);
  for (let begin = 0; begin < count; begin += BLOCK) {
    const end = min(begin + BLOCK, count);
    for (let byte = 0; byte < SLOT_BYTES; byte += 4) {
      let from = planes + usize(byte) * plane + usize(begin);
      let to = slots + usize(begin * SLOT_BYTES + byte);
      for (let slot = begin; slot < end; slot++, from++, to += SLOT_BYTES)
        store<u32>(
          to,
          u32(load<u8>(from)) |
            (u32(load<u8>(from + plane)) << 8) |
            (u32(load<u8>(from + 2 * plane)) << 16) |
            (u32(load<u8>(from + 3 * plane)) << 24),
        );
    }
  }
}

/** In place. Ticks are differences, and word 3 lacks position and check. */
export function dressSlots(slots: usize, count: i32, first: f64): void {
  let tick: u64 = 0;
  let position = u64(first);
  for (let n = 0, slot = slots; n < count; n++, slot += SLOT_BYTES, position++) {
    const stored = load<u64>(slot, 24);
    const named = stored & 0xffff; // kind, part, parts
    if ((named & 0xf00) == 0) {
      tick += load<u64>(slot);
      store<u64>(slot, tick);
    }
    const meta = named | ((position & 0xffffff) << 16);
    const check = checkOf(slot, named | (position << 16));
    // What differs from the computed fields was kept as it was.
    store<u64>(slot, stored ^ (meta & ~u64(0xffff)) ^ (u64(check) << 40), 24);
  }
}
