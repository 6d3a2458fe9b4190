/** Reads fields from columns, by the layouts of src/rankfile/format: for printing and rare records, not for hot loops. */

import type { Field } from './format/layouts.js';
import type { RecordColumns } from './file_types.js';

/** A record's slot and word as u64. Word 0 of slot 0 is the tick, which has its own column. */
export function wordAt(records: RecordColumns, row: number, slot: number, word: number): bigint {
  if (slot > 0) {
    const at = records.extraStart[row]! + (slot - 1) * 6 + word * 2;
    return u64(records.extra[at] ?? 0, records.extra[at + 1] ?? 0);
  }
  return word === 1
    ? u64(records.word1Low[row]!, records.word1High[row]!)
    : u64(records.word2Low[row]!, records.word2High[row]!);
}

export function fieldAt(records: RecordColumns, row: number, field: Field): bigint {
  const value = wordAt(records, row, field.slot, field.word) >> BigInt(field.shift);
  return field.type === 'signed' ? BigInt.asIntN(field.bits, value) : BigInt.asUintN(field.bits, value);
}

export const slotsOf = (records: RecordColumns, row: number): number =>
  1 + (records.extraStart[row + 1]! - records.extraStart[row]!) / 6;

export const u64 = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low);
