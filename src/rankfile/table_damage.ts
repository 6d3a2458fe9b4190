/**
 * Counts the lost entries of a table. Entries have fixed places and are written in order. So each place below the head, or with any
 * content, must hold a whole entry. An entry that is being written during a copy looks like a lost one.
 */

import type { SlotPlaces } from './record_reader.js';
import { EMPTY } from './slots.js';
import type { TableClass } from './directory.js';
import type { Problems } from './problems.js';
import type { RecordColumns } from './file_types.js';
import { impossibleField } from './value_ranges.js';

/** `kind`: kind of each entry's first record. `slots`: slots of an entry. `parts`: parts of that first record. */
interface Shape {
  /** Slots of the table, even if the file ends earlier. */
  readonly capacity: number;
  readonly table: TableClass;
  readonly kind: number;
  readonly slots: number;
  readonly parts: number;
}

/** Number of unreadable entries. Counts them, and torn slots, in `problems`. */
export function lostEntries(
  { table, capacity, kind, slots, parts }: Shape,
  head: number,
  checked: SlotPlaces & { readonly tornSlots: number },
  records: RecordColumns,
  problems: Problems,
): number {
  const { count: there } = checked;
  const whole = new Set<number>();
  for (let row = 0; row < records.length; row++)
    if (records.kind[row] === kind) whole.add(records.position[row]! % capacity);
  const impossible = impossibleEntries(records);
  const written = Math.min(Math.ceil(head / slots), Math.floor(there / slots));
  let lost = 0;
  for (let at = 0; at + parts <= there; at += slots)
    if (!whole.has(at) && (at < written * slots || !isEmpty(checked, at, slots))) lost++;
  problems.add(`torn slots in the table of ${table}`, checked.tornSlots);
  problems.add(`entries of the table of ${table} that are missing or incomplete`, lost);
  return lost + impossible;
}

/** tables.ts counts these by field when it leaves them out. */
function impossibleEntries(records: RecordColumns): number {
  let count = 0;
  for (let row = 0; row < records.length; row++) if (impossibleField(records, row) !== null) count++;
  return count;
}

function isEmpty(slots: SlotPlaces, from: number, count: number): boolean {
  for (let index = from; index < Math.min(from + count, slots.count); index++)
    if (slots.positionAt(index) !== EMPTY) return false;
  return true;
}
