/** Makes the checks of changed slots good again. */

import { metaHigh, metaLow, slotCheck } from '../../../src/rankfile/format/slot.js';

/** `at`: the first word of the slot; its kind, part and parts stay. */
export function sealSlot(words: Uint32Array, at: number, position: number): void {
  const kindAndParts = words[at + 6]! & 0xffff;
  const low = metaLow(kindAndParts & 0xff, (kindAndParts >> 8) & 15, kindAndParts >> 12, position & 0xffff);
  const high = metaHigh(position);
  const [a, b, c, d, e, f] = words.subarray(at, at + 6) as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  words[at + 6] = low;
  words[at + 7] = ((slotCheck(a, b, c, d, e, f, low, high) << 8) | (high & 0xff)) >>> 0;
}
