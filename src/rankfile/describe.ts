/**
 * Describes one record for people and scripts (`inspect`): every field by name, with strings and handles resolved, and unknown kinds by
 * number. Slow and complete. It pairs nothing.
 */

import * as format from './format/constants.js';
import { type Handle, isContext, splitHandle, tagBits } from './format/handle.js';
import { type Field, kindName, type Layout, LAYOUTS } from './format/layouts.js';
import { stateName } from './format/nccl.js';
import type { RankFile, RecordColumns } from './file_types.js';
import { fieldAt, slotsOf, wordAt } from './field_values.js';

/** null: NCCL gave none. Numbers beyond 2^53 are decimal text, addresses and flags hexadecimal text. */
export type FieldValue = string | number | null;

export interface DescribedRecord {
  readonly ring: number;
  readonly position: number;
  readonly tick: number;
  readonly kind: number;
  /** "ProxyStep start", "State", "kind 0x99". */
  readonly name: string;
  readonly fields: readonly (readonly [name: string, value: FieldValue])[];
}

export function describeRecord(
  file: Pick<RankFile, 'header' | 'strings'>,
  ring: number,
  records: RecordColumns,
  row: number,
): DescribedRecord {
  const kind = records.kind[row]!;
  const slots = slotsOf(records, row);
  const layout = layoutOf(kind, slots);
  return {
    ring,
    position: records.position[row]!,
    tick: records.tick[row]!,
    kind,
    name: kindName(kind),
    fields:
      layout === undefined ? bareWords(records, row, slots) : knownFields(file, records, row, slots, layout),
  };
}

function layoutOf(kind: number, slots: number): Layout | undefined {
  const layouts = LAYOUTS.get(kind)?.layouts;
  // A record with more slots than any layout: further slots are ignored.
  return layouts?.findLast((layout) => layout.slots <= slots) ?? layouts?.[0];
}

function knownFields(
  file: Pick<RankFile, 'header' | 'strings'>,
  records: RecordColumns,
  row: number,
  slots: number,
  layout: Layout,
): DescribedRecord['fields'] {
  return layout.fields
    .slice(1) // the tick
    .filter((field) => field.slot < slots)
    .map((field) => [field.name, valueOf(file, records, row, field)] as const);
}

function valueOf(
  file: Pick<RankFile, 'header' | 'strings'>,
  records: RecordColumns,
  row: number,
  field: Field,
): FieldValue {
  const value = fieldAt(records, row, field);
  switch (field.type) {
    case 'number':
      return field.name === 'value' && value === BigInt(format.NO_VALUE) ? null : exact(value);
    case 'signed':
      return Number(value);
    case 'hex':
      return hex(value);
    case 'tick':
      return Number(value - file.header.tickBase);
    case 'comm':
      return commText(Number(value));
    case 'string':
      return stringText(file.strings, Number(value));
    case 'state':
      return records.kind[row] === format.Kind.Fold && Number(value) === format.FOLD_OF_START
        ? 'start'
        : stateName(Number(value));
    case 'handle':
      return handleText(value, tagBits(file.header.tag));
  }
}

const exact = (value: bigint): FieldValue =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString();
const hex = (value: bigint): string => `0x${value.toString(16)}`;

function commText(comm: number): FieldValue {
  if (comm === format.COMM_NONE) return null;
  return comm === format.COMM_FOREIGN ? 'foreign' : comm;
}

function stringText(strings: RankFile['strings'], id: number): FieldValue {
  if (id === format.STRING_NONE) return null;
  if (id === format.STRING_LOST) return '(table full)';
  return strings[id] ?? `(string ${id})`;
}

/** "2:1042": the record at position 1042 of ring 2. */
export function handleText(value: bigint, ownTagBits: number): FieldValue {
  if (value === 0n) return null;
  const handle: Handle = splitHandle(Number(value & 0xffffffffn), Number(value >> 32n), ownTagBits);
  if (!handle.own) return `foreign ${hex(value)}`;
  if (isContext(handle)) return `context ${handle.position}`;
  return handle.muted ? 'muted' : `${handle.ring}:${handle.position}`;
}

function bareWords(records: RecordColumns, row: number, slots: number): DescribedRecord['fields'] {
  const words: [string, string][] = [];
  for (let slot = 0; slot < slots; slot++)
    for (let word = slot === 0 ? 1 : 0; word < 3; word++)
      words.push([`s${slot}w${word}`, hex(wordAt(records, row, slot, word))]);
  return words;
}
