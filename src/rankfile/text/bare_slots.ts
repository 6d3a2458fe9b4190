/** The slots of a chunk as they were in the ring: planes are put in order, and what bare slots lack is computed (schemas/rank-file.md, "Codec"). */

import { SLOT_BYTES } from '../format/constants.js';
import { metaHigh, metaLow, slotCheck, word3High } from '../format/slot.js';
import type { Payload } from '../chunk_payload.js';

/** `first`: position of the first slot. */
export function completeSlots({ bytes, arePlanes, areBare }: Payload, first: number): Uint8Array {
  const slots = arePlanes ? fromPlanes(bytes) : Uint8Array.from(bytes);
  if (areBare) complete(new DataView(slots.buffer), first);
  return slots;
}

function fromPlanes(planes: Uint8Array): Uint8Array {
  const count = planes.length / SLOT_BYTES;
  return Uint8Array.from(planes, (_, at) => planes[(at % SLOT_BYTES) * count + Math.floor(at / SLOT_BYTES)]!);
}

function complete(slots: DataView, first: number): void {
  let last = 0n;
  for (let at = 0; at < slots.byteLength; at += SLOT_BYTES) {
    const low = slots.getUint32(at + 24, true);
    if (((low >>> 8) & 15) === 0) {
      last = BigInt.asUintN(64, slots.getBigUint64(at, true) + last);
      slots.setBigUint64(at, last, true);
    }
    const position = first + at / SLOT_BYTES;
    const meta = metaLow(low & 0xff, (low >>> 8) & 15, (low >>> 12) & 15, position % 0x10000);
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = [0, 4, 8, 12, 16, 20].map((half) =>
      slots.getUint32(at + half, true),
    );
    const high = word3High(slotCheck(a, b, c, d, e, f, meta, metaHigh(position)), position);
    slots.setUint32(at + 24, (low ^ (meta & 0xffff_0000)) >>> 0, true);
    slots.setUint32(at + 28, (slots.getUint32(at + 28, true) ^ high) >>> 0, true);
  }
}
