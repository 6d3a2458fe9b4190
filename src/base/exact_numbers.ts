/** Reads columns as tables and exports have them: 64-bit integers, and a bit per row that says whether its number is known. */

/** All of ours are below 2^53, and a bigint per number would take ten times as long. */
export function exactNumbers({ buffer, byteOffset, length }: BigInt64Array): (row: number) => number {
  const words = new Uint32Array(buffer, byteOffset, 2 * length);
  return (row) => (words[2 * row + 1]! | 0) * 2 ** 32 + words[2 * row]!;
}

/** The lowest bit first; null: all are. */
export const isKnown = (known: Uint8Array | null, row: number): boolean =>
  known === null || ((known[row >> 3]! >> (row & 7)) & 1) === 1;
