/**
 * Slots as they lie in a chunk of codec ZstdPlanes, once it is unpacked: byte 0 of all of them, then byte 1 of all, up to
 * byte 31. Here they become (bare) slots again. See schemas/rank-file.md, "Codec".
 */

const WORDS = 8; // halves of four words
/** So many slots at a time: what is written and four planes' share of what is read stay in a cache. */
const BLOCK = 64;

/** `planes`: 32 bytes per slot. The halves of the slots' words. */
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
