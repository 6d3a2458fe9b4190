/**
 * The parts of protobuf's wire format that hot packets need: functions that write at a position and return the next one. The caller
 * provides the room. No bigint, no allocation: 64-bit values are safe integers or two unsigned 32-bit halves.
 */

/** Wire types, the low three bits of a tag. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;

export const tag = (field: number, wireType: number): number => (field << 3) | wireType;

/** The longest varint. */
export const MAX_VARINT = 10;

const TWO_32 = 2 ** 32;

/** A safe integer ≥ 0. Nearly all are below 2^31, and V8 passes such a number on without making an object of it. */
export const putVarint = (out: Uint8Array, at: number, value: number): number =>
  value <= 0x7fffffff ? putVarint31(out, at, value | 0) : putLongVarint(out, at, value);

function putVarint31(out: Uint8Array, at: number, value: number): number {
  while (value > 0x7f) {
    out[at++] = (value & 0x7f) | 0x80;
    value >>>= 7;
  }
  out[at++] = value;
  return at;
}

/** Shifts lose the bits above 31, so the groups come from divisions. */
function putLongVarint(out: Uint8Array, at: number, value: number): number {
  while (value > 0x7fffffff) {
    out[at++] = (value & 0x7f) | 0x80;
    value = Math.floor(value / 0x80);
  }
  return putVarint31(out, at, value);
}

/** An unsigned 64-bit value as two unsigned 32-bit halves. */
export function putVarint64(out: Uint8Array, at: number, high: number, low: number): number {
  while (high !== 0) {
    out[at++] = (low & 0x7f) | 0x80;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  return putVarint(out, at, low);
}

/** A safe integer of either sign as an int64. A negative one is its two's complement, always ten bytes long. */
export function putInt64(out: Uint8Array, at: number, value: number): number {
  if (value >= 0) return putVarint(out, at, value);
  return putVarint64(out, at, Math.floor(value / TWO_32) >>> 0, value >>> 0);
}

/** A bigint between -2^63 and 2^64, for the rare argument that needs it. */
export function putBigInt(out: Uint8Array, at: number, value: bigint): number {
  return putVarint64(out, at, Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value)));
}

export function putFixed64(out: Uint8Array, at: number, high: number, low: number): number {
  at = putFixed32(out, at, low);
  return putFixed32(out, at, high);
}

function putFixed32(out: Uint8Array, at: number, value: number): number {
  out[at++] = value & 0xff;
  out[at++] = (value >>> 8) & 0xff;
  out[at++] = (value >>> 16) & 0xff;
  out[at++] = value >>> 24;
  return at;
}

const scratch = new DataView(new ArrayBuffer(8));

export function putDouble(out: Uint8Array, at: number, value: number): number {
  scratch.setFloat64(0, value, true);
  return putFixed64(out, at, scratch.getUint32(4, true), scratch.getUint32(0, true));
}

/**
 * Writes the length of the bytes from `lengthAt + 1` to `end`. One byte is reserved, which is nearly always enough. A longer message moves
 * up.
 */
export function closeLength(out: Uint8Array, lengthAt: number, end: number): number {
  const length = end - lengthAt - 1;
  if (length < 0x80) {
    out[lengthAt] = length;
    return end;
  }
  const extra = length < 0x4000 ? 1 : length < 0x200000 ? 2 : length < 0x10000000 ? 3 : 4;
  out.copyWithin(lengthAt + 1 + extra, lengthAt + 1, end);
  putVarint(out, lengthAt, length);
  return end + extra;
}
