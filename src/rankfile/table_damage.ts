/**
 * What a table has lost. Its entries have fixed places and are written in order, so each place below the head, or with
 * anything in it, must hold a whole entry. An entry that is being written just when the file is copied looks the same.
 */

import type { CheckedSlots } from './slots.js';
import { EMPTY } from './slots.js';
import type { TableClass } from './directory.js';
import type { Problems } from './problems.js';
import type { RecordColumns } from './types.js';
import { impossibleField } from './value_ranges.js';

/** `kind`: of the record that each entry begins with; `slots`: of an entry, `parts`: of them that record's. */
interface Shape {
  /** Slots of the table, also where the file ends before it does. */
  readonly capacity: number;
  readonly table: TableClass;
  readonly kind: number;
  readonly slots: number;
  readonly parts: number;
}

/** How many entries cannot be read. Counts them, and torn slots, in `problems`. */
export function lostEntries(
  { table, capacity, kind, slots, parts }: Shape,
  head: number,
  checked: CheckedSlots,
  records: RecordColumns,
  problems: Problems,
): number {
  const { position } = checked;
  const there = position.length;
  const whole = new Set<number>();
  for (let row = 0; row < records.length; row++)
    if (records.kind[row] === kind) whole.add(records.position[row]! % capacity);
  const impossible = impossibleEntries(records);
  const written = Math.min(Math.ceil(head / slots), Math.floor(there / slots));
  let lost = 0;
  for (let at = 0; at + parts <= there; at += slots)
    if (!whole.has(at) && (at < written * slots || !isEmpty(position, at, slots))) lost++;
  problems.add(`torn slots in the table of ${table}`, checked.tornSlots);
  problems.add(`entries of the table of ${table} that are missing or incomplete`, lost);
  return lost + impossible;
}

/** Those are counted, field by field, where they are left out (tables.ts). */
function impossibleEntries(records: RecordColumns): number {
  let count = 0;
  for (let row = 0; row < records.length; row++) if (impossibleField(records, row) !== null) count++;
  return count;
}

function isEmpty(position: Float64Array, from: number, count: number): boolean {
  for (let index = from; index < Math.min(from + count, position.length); index++)
    if (position[index] !== EMPTY) return false;
  return true;
}
