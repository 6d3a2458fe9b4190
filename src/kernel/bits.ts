/**
 * A signed number of 32 bits as the low half of 64.
 *
 * Not `<u64>(<u32>value)`: Binaryen 125 and older (the optimizer of AssemblyScript 0.28) turns a load of a signed field that is extended without its
 * sign into one that is (`i64.extend_i32_u(i32.load)` into `i64.load32_s`), so a peer of -1 would fill the upper half, too.
 */
export function lowHalf(value: i32): u64 {
  return (<u64>(<i64>value)) & 0xffff_ffff;
}

/** The halves of a number of 64 bits, as columns have it. */
export function highOf(number: u64): f64 {
  return <f64>(number >> 32);
}

export function lowOf(number: u64): f64 {
  return <f64>(number & 0xffff_ffff);
}
