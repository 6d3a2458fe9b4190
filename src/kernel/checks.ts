/** Assertions of the debug build. */

export function checkIndex(index: i32, length: i32): void {
  assert(<u32>index < <u32>length, 'index outside of the table');
}
