/** The parts of protobuf's wire format that packets of events need: functions that write at an address and return the next one. */

export function putVarint(at: usize, value: u64): usize {
  if (value > 0x7f) return putLongVarint(at, value);
  store<u8>(at, <u8>value);
  return at + 1;
}

function putLongVarint(at: usize, value: u64): usize {
  let rest = value;
  let end = at;
  do {
    store<u8>(end++, <u8>((rest & 0x7f) | 0x80));
    rest >>= 7;
  } while (rest > 0x7f);
  store<u8>(end, <u8>rest);
  return end + 1;
}

export function putByte(at: usize, byte: u8): usize {
  store<u8>(at, byte);
  return at + 1;
}

export function putFixed64(at: usize, value: u64): usize {
  store<u64>(at, value);
  return at + 8;
}

/** Length and bytes. */
export function putBytes(at: usize, bytes: usize, length: i32): usize {
  const start = putVarint(at, length);
  memory.copy(start, bytes, length);
  return start + <usize>length;
}

/**
 * Writes the length of the bytes from `lengthAt + 1` to `end`. One byte is reserved, which is nearly always enough. A longer message moves
 * up.
 */
export function closeLength(lengthAt: usize, end: usize): usize {
  const length = end - lengthAt - 1;
  if (length > 0x7f) return moveUp(lengthAt, end, length);
  store<u8>(lengthAt, <u8>length);
  return end;
}

function moveUp(lengthAt: usize, end: usize, length: usize): usize {
  const extra: usize = length < 0x4000 ? 1 : length < 0x200000 ? 2 : length < 0x10000000 ? 3 : 4;
  memory.copy(lengthAt + 1 + extra, lengthAt + 1, length);
  putVarint(lengthAt, length);
  return end + extra;
}
