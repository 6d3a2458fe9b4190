/** Reads 64-bit integers. All of ours are below 2^53, and a bigint per number would take ten times as long. */

export function exactNumbers({ buffer, byteOffset, length }: BigInt64Array): (row: number) => number {
  const words = new Uint32Array(buffer, byteOffset, 2 * length);
  return (row) => (words[2 * row + 1]! | 0) * 2 ** 32 + words[2 * row]!;
}
