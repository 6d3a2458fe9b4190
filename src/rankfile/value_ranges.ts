/** Whether a table record's fields have possible values (format/ranges.ts). */

import { LAYOUTS, type Field } from './format/layouts.js';
import { isIn, type Range, TABLE_RANGES } from './format/ranges.js';
import type { RecordColumns } from './file_types.js';
import { fieldAt } from './field_values.js';

const ranged: ReadonlyMap<number, readonly (readonly [Field, Range])[]> = new Map(
  [...TABLE_RANGES].map(([kind, ranges]) => {
    const fields = LAYOUTS.get(kind)!.layouts[0]!.fields;
    return [
      kind,
      fields.flatMap((field) => (ranges[field.name] ? [[field, ranges[field.name]!] as const] : [])),
    ];
  }),
);

/** Name of a field outside its range; null: none. */
export function impossibleField(records: RecordColumns, row: number): string | null {
  const wrong = ranged
    .get(records.kind[row]!)
    ?.find(([field, range]) => !isIn(range, fieldAt(records, row, field)));
  return wrong?.[0].name ?? null;
}
