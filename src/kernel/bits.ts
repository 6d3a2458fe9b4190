/**
 * A signed number of 32 bits as the low half of 64.
 *
 * Not `<u64>(<u32>value)`: Binaryen 125 and older (the optimizer of AssemblyScript 0.28) turns a load of a signed field that is extended without its
 * sign into one that is (`i64.extend_i32_u(i32.load)` into `i64.load32_s`), so a peer of -1 would fill the upper half, too.
 */
export function lowHalf(value: i32): u64 {
  return (<u64>(<i64>value)) & 0xffff_ffff;
}
