/**
 * Reads the fields of one record from the columns: row `i` of `records`. Offsets as in schemas/rank-file.md, "Kinds": slot 0 is the row
 * itself, slot k >= 1 lies in `extra`. Missing slots read as zero.
 */

import { ticks, type Ticks } from '../base/time.js';
import { FOLD_OF_START } from '../rankfile/format/constants.js';
import type { RecordColumns } from '../rankfile/types.js';

/**
 * A handle of this process as one exact number: ring * 2^40 + position of the start record.
 * Anything else (NULL, a muted event, another process's handle, garbage) is one of the negative constants.
 */
export type HandleKey = number;
export const KEY_NULL: HandleKey = -1;
export const KEY_FOREIGN: HandleKey = -2;
const KEY_MUTED: HandleKey = -3;

const TWO_31 = 2 ** 31;
const TWO_32 = 2 ** 32;
const TWO_40 = 2 ** 40;

/** `tag17`: the upper 17 bits of every handle of this process. */
export function handleKey(low: number, high: number, tag17: number): HandleKey {
  if (high >>> 15 !== tag17) return low === 0 && high === 0 ? KEY_NULL : KEY_FOREIGN;
  return low & 1 ? KEY_MUTED : (high & 0x7fff) * TWO_31 + (low >>> 1);
}

export function startKey(ring: number, position: number): HandleKey {
  return ring * TWO_40 + (position % TWO_40);
}

export const keyRing = (key: HandleKey): number => Math.floor(key / TWO_40);
export const keyPosition = (key: HandleKey): number => key % TWO_40;

/** Word 1 as it is: a parent, or a handle of any process. */
export function word1(records: RecordColumns, i: number): bigint {
  return (BigInt(records.word1High[i]!) << 32n) | BigInt(records.word1Low[i]!);
}

/** 32 bits of slot `slot` (1 and up), word 0 to 2, half 0 (low) or 1. */
export function extra32(records: RecordColumns, i: number, slot: number, word: number, half: 0 | 1): number {
  const at = records.extraStart[i]! + (slot - 1) * 6 + word * 2 + half;
  return at < records.extraStart[i + 1]! ? records.extra[at]! : 0;
}

/**
 * 64 bits as a number, exact below 2^53. Counts, sizes and sequence numbers are below. A larger value is garbage, because NCCL leaves
 * fields uninitialised. It reads as the largest exact number, so that no code gets an inexact one.
 */
export function extra64(records: RecordColumns, i: number, slot: number, word: number): number {
  const value = extra32(records, i, slot, word, 1) * TWO_32 + extra32(records, i, slot, word, 0);
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

export function extraBigint(records: RecordColumns, i: number, slot: number, word: number): bigint {
  const high = extra32(records, i, slot, word, 1);
  const low = extra32(records, i, slot, word, 0);
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low);
}

export function hasExtra(records: RecordColumns, i: number): boolean {
  return records.extraStart[i + 1]! > records.extraStart[i]!;
}

/** Fields of a State record. `value` is null if NCCL gave none. */
export interface StateFields {
  state: number;
  value: number | null;
}

const NO_VALUE = 2 ** 48 - 1;

export function readState(records: RecordColumns, i: number, out: StateFields): void {
  const low = records.word2Low[i]!;
  if (hasExtra(records, i)) {
    out.state = low | 0;
    const value = extra64(records, i, 1, 0);
    out.value = value === NO_VALUE ? null : value;
    return;
  }
  out.state = low & 0xffff;
  const value = records.word2High[i]! * 0x10000 + (low >>> 16);
  out.value = value === NO_VALUE ? null : value;
}

/** Content of a Fold record: how often a state or the start was repeated, and when the newest repeat was. */
export interface Repeats {
  readonly state: number | 'start';
  readonly count: number;
  readonly lastTick: Ticks;
}

export function foldOf(records: RecordColumns, i: number, tickBase: bigint): Repeats {
  const repeated = records.word2Low[i]!;
  return {
    state: repeated === FOLD_OF_START ? 'start' : repeated,
    count: extra64(records, i, 1, 1),
    lastTick: ticks(Math.max(0, Number(extraBigint(records, i, 1, 0) - tickBase))),
  };
}
