/** A chunk in bytes: its header and its payload, from schemas/rank-file.md. */

import { compressFrame } from '../../../src/rankfile/zstd.js';
import * as format from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';
import { bareSlots } from './bare_slots.js';

const CODECS = {
  raw: format.Codec.Raw,
  zstd: format.Codec.Zstd,
  zstdBare: format.Codec.ZstdBare,
  zstdPlanes: format.Codec.ZstdPlanes,
};
export type ChunkCodec = keyof typeof CODECS;

const PAYLOADS: Record<ChunkCodec, (slots: Uint8Array, firstPosition: number) => Uint8Array> = {
  raw: (slots) => slots,
  zstd: (slots) => compressFrame(slots),
  zstdBare: (slots, firstPosition) => compressFrame(bareSlots(slots, firstPosition)),
  zstdPlanes: (slots, firstPosition) => compressFrame(planesOf(bareSlots(slots, firstPosition))),
};

export interface ChunkOptions {
  readonly ring: number;
  readonly firstPosition: number;
  readonly slots: Uint8Array;
  readonly codec: ChunkCodec;
  readonly sequence: number;
}

export function chunkBytes({ ring, firstPosition, slots, codec, sequence }: ChunkOptions): Uint8Array {
  const payload = PAYLOADS[codec](slots, firstPosition);
  const bytes = new Uint8Array(format.CHUNK_HEADER_BYTES + payload.length);
  bytes.set(payload, format.CHUNK_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const C = format.CHUNK_HEADER;
  const [firstTick, lastTick] = tickRange(slots);
  view.setUint32(C.magic, format.CHUNK_MAGIC, true);
  view.setUint16(C.codec, CODECS[codec], true);
  view.setUint16(C.area, ring, true);
  view.setBigUint64(C.firstPosition, BigInt(firstPosition), true);
  view.setBigUint64(C.endPosition, BigInt(firstPosition + slots.length / format.SLOT_BYTES), true);
  view.setBigUint64(C.firstTick, firstTick, true);
  view.setBigUint64(C.lastTick, lastTick, true);
  view.setBigUint64(C.sequence, BigInt(sequence), true);
  view.setUint32(C.rawBytes, slots.length, true);
  view.setUint32(C.storedBytes, payload.length, true);
  view.setUint32(C.payloadCrc, crc32(payload), true);
  view.setUint32(C.headerCrc, crc32(bytes.subarray(0, format.CHUNK_HEADER_BYTES)), true);
  return bytes;
}

/** Byte 0 of all slots, then byte 1 of all, up to byte 31. */
function planesOf(slots: Uint8Array): Uint8Array {
  const count = slots.length / format.SLOT_BYTES;
  return slots.map((_, at) => slots[(at % count) * format.SLOT_BYTES + Math.floor(at / count)]!);
}

/** Of the records that begin inside. */
function tickRange(slots: Uint8Array): [first: bigint, last: bigint] {
  const view = new DataView(slots.buffer, slots.byteOffset, slots.length);
  let first: bigint | null = null;
  let last = 0n;
  for (let at = 0; at < slots.length; at += format.SLOT_BYTES) {
    const beginsRecord = view.getUint8(at + 24) !== 0 && (view.getUint8(at + 25) & 15) === 0;
    if (!beginsRecord) continue;
    const tick = view.getBigUint64(at, true);
    if (first === null || tick < first) first = tick;
    if (tick > last) last = tick;
  }
  return [first ?? 0n, last];
}

export const align = (value: number, to: number): number => Math.ceil(value / to) * to;
