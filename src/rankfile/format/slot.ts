/**
 * The check in each slot covers payload, kind, part, parts and the whole 48-bit position, of which the slot stores the low 24 bits. This
 * file computes the check, on 32-bit halves. The kernel (src/kernel/slots.ts) does the same, and finds a position again from its 24 bits.
 *
 *   word 3   63........40 39..........16 15..12 11...8 7....0
 *            check (24)   position (24)  parts  part   kind
 *
 * Meta is the same word with all 48 bits of the position and no check. See schemas/rank-file.md, "Slots".
 */

/** Low half of meta, and of word 3. `positionLow16` needs no masking. */
export function metaLow(kind: number, part: number, parts: number, positionLow16: number): number {
  return (kind | (part << 8) | (parts << 12) | (positionLow16 << 16)) >>> 0;
}

/** High half of meta: bits 16 to 47 of the position. */
export function metaHigh(position: number): number {
  return Math.floor(position / 0x10000) >>> 0;
}

/** 24 bits over the three payload words and meta, each given as two halves of any sign. */
export function slotCheck(
  w0Low: number,
  w0High: number,
  w1Low: number,
  w1High: number,
  w2Low: number,
  w2High: number,
  metaLow: number,
  metaHigh: number,
): number {
  // word0 ^ rotl(word1, 21) ^ rotl(word2, 42) ^ meta; a rotation by 42 is one by 10 with the halves exchanged.
  const low = w0Low ^ ((w1Low << 21) | (w1High >>> 11)) ^ ((w2High << 10) | (w2Low >>> 22)) ^ metaLow;
  const high = w0High ^ ((w1High << 21) | (w1Low >>> 11)) ^ ((w2Low << 10) | (w2High >>> 22)) ^ metaHigh;
  let hash = (Math.imul(low, 0x9e3779b1) + Math.imul(high, 0x85ebca77)) | 0;
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae3d);
  return hash >>> 8;
}

/** High half of word 3: the check above bits 16 to 23 of the position. */
export function word3High(check: number, position: number): number {
  return ((check << 8) | (metaHigh(position) & 0xff)) >>> 0;
}
