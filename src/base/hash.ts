/**
 * Small deterministic hashes in 32-bit arithmetic: the same on every rank, worker and machine. Not safe against attackers. A `Hash64` is
 * made word by word. Both ends of a transfer add the same words, so they get the same id without a join.
 */

/** Two independent 32-bit lanes. */
export interface Hash64 {
  readonly hi: number;
  readonly lo: number;
}

/** The finalizer of MurmurHash3: every input bit reaches every output bit. */
function avalanche(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export const HASH_SEED: Hash64 = { hi: 0x6e63636c, lo: 0x74726163 };

/** Adds one 32-bit word. */
export function addWord(hash: Hash64, word: number): Hash64 {
  return { hi: highWith(hash.hi, word), lo: lowWith(hash.lo, word) };
}

const highWith = (hi: number, word: number): number => avalanche(Math.imul(hi, 0x9e3779b1) ^ word);
const lowWith = (lo: number, word: number): number =>
  avalanche(Math.imul(lo, 0x85ebca77) + (word | 0) + 0x165667b1);

export function addBigint(hash: Hash64, value: bigint): Hash64 {
  const low = Number(BigInt.asUintN(32, value));
  return addWord(addWord(hash, low), Number(BigInt.asUintN(32, value >> 32n)));
}

export function addText(hash: Hash64, text: string): Hash64 {
  let { hi, lo } = addWord(hash, text.length);
  for (let i = 0; i < text.length; i++) {
    const word = text.charCodeAt(i);
    hi = highWith(hi, word);
    lo = lowWith(lo, word);
  }
  return { hi, lo };
}

/** The upper 52 bits as a positive safe integer: ids that stay plain numbers. */
export function toSafeInteger(hash: Hash64): number {
  return hash.hi * 0x100000 + (hash.lo >>> 12) || 1;
}
