/** Makes slots bare as a recorder does (schemas/rank-file.md, "Codec"), with 64-bit arithmetic that the reader does not use. */

import { MASK_64, word3 } from './slot_area.js';

export function bareSlots(slots: Uint8Array, firstPosition: number): Uint8Array {
  const bare = slots.slice();
  const view = new DataView(bare.buffer);
  let last = 0n;
  for (let at = 0, position = firstPosition; at < bare.length; at += 32, position++) {
    const words = [0, 8, 16, 24].map((offset) => view.getBigUint64(at + offset, true));
    const named = Number(words[3]! & 0xffffn);
    const expected = word3(words, named & 0xff, (named >> 8) & 15, named >> 12, position);
    view.setBigUint64(at + 24, words[3]! ^ (expected & ~0xffffn & MASK_64), true);
    if (((named >> 8) & 15) !== 0) continue;
    view.setBigUint64(at, (words[0]! - last) & MASK_64, true);
    last = words[0]!;
  }
  return bare;
}
