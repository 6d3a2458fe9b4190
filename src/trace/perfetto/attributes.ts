/** Reads the first packets of a trace: whether they are packets, and the attributes that `prologue` writes. */

import { perfetto } from './generated/protos.js';

const { TracePacket } = perfetto.protos;
/** `Trace.packet`, length-delimited. */
export const PACKET_TAG = 0x0a;
/** The prologue has fewer. */
const MOST_PACKETS = 64;

/** Empty if there are none, for any bytes. Integers up to 2^53 become decimal text. */
export function readAttributes(bytes: Uint8Array): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  for (let packet = 0; packet < MOST_PACKETS && bytes[at] === PACKET_TAG; packet++) {
    const length = readVarint(bytes, at + 1);
    if (length === null || length.end + length.value > bytes.length) break;
    at = length.end + length.value;
    for (const { key, stringValue, longValue } of attributesOf(bytes.subarray(length.end, at)))
      found.set(key ?? '', stringValue ?? String(Number(longValue ?? 0)));
  }
  return found;
}

/** Whether the bytes are a trace of any program: one packet after another, each in the wire format. The last packet may be cut. */
export function beginsAsTrace(bytes: Uint8Array): boolean {
  let at = 0;
  for (let packet = 0; packet < MOST_PACKETS && at < bytes.length; packet++) {
    const length = bytes[at] === PACKET_TAG ? readVarint(bytes, at + 1) : null;
    if (length === null) return false;
    at = length.end + length.value;
    if (at > bytes.length) return packet > 0;
    if (!isMessage(bytes.subarray(length.end, at))) return false;
  }
  return at > 0;
}

function isMessage(bytes: Uint8Array): boolean {
  try {
    TracePacket.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function attributesOf(packet: Uint8Array) {
  try {
    return TracePacket.decode(packet).traceAttributes?.attribute ?? [];
  } catch {
    return []; // another program's trace, or a damaged one
  }
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } | null {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  return null;
}
