/**
 * A decompressed chunk of codec ZstdPlanes has byte 0 of all slots, then byte 1, up to byte 31. This file makes (bare) slots of it. See
 * schemas/rank-file.md, "Codec".
 */

const WORDS = 8; // halves of four words
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
