/**
 * A recorded rank file in which one record is repeated thousands of times, with fields that rise, fall or jump from copy to copy: many
 * communicators, many operations in flight, ticks over weeks. All checks hold. This shows whether what a file costs grows with its size alone.
 */

import { memorySource } from '../../../src/rankfile/byte_source.js';
import { type Area, readDirectory } from '../../../src/rankfile/directory.js';
import * as format from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';
import { type Field, LAYOUTS } from '../../../src/rankfile/format/layouts.js';
import { readHeader } from '../../../src/rankfile/header.js';
import { Problems } from '../../../src/rankfile/problems.js';
import { positionsIn } from '../rank_files/slot_positions.js';
import type { Forgery, Random } from './forged_values.js';
import { sealSlot } from '../rank_files/sealed_slot.js';

/** One record of an area: its slots, and what they are. */
interface Model {
  readonly area: Area;
  readonly name: string;
  readonly words: Uint32Array;
  readonly fields: readonly Field[];
}

const SLOT_WORDS = format.SLOT_BYTES / 4;

/** Repeats records of a recorded file. null: it has none that can be repeated. `copies`: how many of a record. */
export function grower(recorded: Uint8Array): ((random: Random, copies: number) => Forgery) | null {
  const source = memorySource('recorded.bin', recorded);
  const problems = new Problems();
  const { layout } = readHeader(source, problems);
  // Areas lie before chunks, so a file that has chunks cannot grow.
  if (recorded.length > layout.chunksOffset) return null;
  const models = modelsIn(recorded, readDirectory(source, layout, problems).areas);
  const names = [...models.keys()];
  if (names.length === 0) return null;
  return (random, copies) => {
    const same = models.get(names[random(names.length)]!)!;
    return repeated(recorded, layout.directoryOffset, same[random(same.length)]!, random, copies);
  };
}

/** By name; at most some of each. */
function modelsIn(recorded: Uint8Array, areas: readonly Area[]): Map<string, Model[]> {
  const view = new DataView(recorded.buffer, recorded.byteOffset);
  const models = new Map<string, Model[]>();
  for (const area of areas) {
    const at = area.slotsOffset;
    const words = new Uint32Array(recorded.slice(at, at + area.capacity * format.SLOT_BYTES).buffer);
    const head = Number(view.getBigUint64(area.liveOffset, true));
    const position = positionsIn(words, area.capacity, head);
    position.forEach((place, index) => {
      const meta = words[index * SLOT_WORDS + 6]! & 0xffff;
      const [kind, part, parts] = [meta & 0xff, (meta >> 8) & 15, meta >> 12];
      const layouts = LAYOUTS.get(kind);
      if (place < 0 || part !== 0 || !layouts || index + parts > area.capacity) return;
      const name = `${area.ring ?? area.table!}.${layouts.name}`;
      const own = words.slice(index * SLOT_WORDS, (index + parts) * SLOT_WORDS);
      const model = { area, name, words: own, fields: layouts.layouts[0]!.fields };
      const same = models.get(name);
      if (!same) models.set(name, [model]);
      else if (same.length < 8) same.push(model);
    });
  }
  return models;
}

/** What a field is in the copy `i`. */
type Rule = (i: number) => bigint;

function repeated(
  recorded: Uint8Array,
  directory: number,
  { area, name, words, fields }: Model,
  random: Random,
  copies: number,
): Forgery {
  const parts = words.length / SLOT_WORDS;
  const capacity = 2 ** Math.ceil(Math.log2(copies * parts));
  const slotsOffset = Math.ceil(recorded.length / 4096) * 4096;
  const bytes = new Uint8Array(slotsOffset + capacity * format.SLOT_BYTES);
  bytes.set(recorded);
  const view = new DataView(bytes.buffer);
  const entry = directory + area.index * format.AREA_ENTRY_BYTES;
  view.setUint32(entry + format.AREA_ENTRY.capacity, capacity, true);
  view.setBigUint64(entry + format.AREA_ENTRY.slotsOffset, BigInt(slotsOffset), true);
  view.setBigUint64(format.FILE_HEADER.chunksOffset, 0n, true);
  view.setUint32(format.FILE_HEADER.headerCrc, 0, true);
  view.setUint32(format.FILE_HEADER.headerCrc, crc32(bytes.subarray(0, format.HEADER_FIXED_BYTES)), true);
  view.setBigUint64(area.liveOffset + format.AREA_LIVE.head, BigInt(copies * parts), true);

  const changes = [`${copies} times ${name}`];
  const rules = fields.flatMap((field): (readonly [Field, Rule])[] => {
    if (field.slot >= parts || (field.name !== 'tick' && random(3) > 0)) return [];
    const [said, rule] = ruleFor(field, valueOf(words, field), copies, random);
    changes.push(`${field.name} ${said}`);
    return [[field, rule]];
  });
  const slots = new Uint32Array(bytes.buffer, slotsOffset);
  for (let i = 0; i < copies; i++) {
    const at = i * words.length;
    slots.set(words, at);
    for (const [field, rule] of rules) setValue(slots, at, field, rule(i));
    for (let part = 0; part < parts; part++) sealSlot(slots, at + part * SLOT_WORDS, i * parts + part);
  }
  return { bytes, changes };
}

function ruleFor(
  field: Field,
  recorded: bigint,
  copies: number,
  random: Random,
): readonly [said: string, rule: Rule] {
  const step = 1n << BigInt(random(Math.max(1, field.bits - Math.ceil(Math.log2(copies)))));
  const from = random(2) === 0 ? 0n : recorded;
  switch (random(4)) {
    case 0:
      return [`+${step} from ${from}`, (i) => from + BigInt(i) * step];
    case 1:
      return [`-${step} from ${from}`, (i) => from + BigInt(copies - i) * step];
    case 2: {
      const few = 1 + random(1000);
      return [`+${step} of ${few} from ${from}`, (i) => from + BigInt(i % few) * step];
    }
    default: {
      const most = 2 ** random(Math.min(field.bits, 31));
      return [`below ${most} * ${step}`, () => from + BigInt(random(most)) * step];
    }
  }
}

const placeOf = ({ slot, word }: Field): number => slot * SLOT_WORDS + word * 2;

const wordAt = (words: Uint32Array, at: number): bigint =>
  BigInt(words[at]!) | (BigInt(words[at + 1]!) << 32n);

const valueOf = (words: Uint32Array, field: Field): bigint =>
  BigInt.asUintN(field.bits, wordAt(words, placeOf(field)) >> BigInt(field.shift));

function setValue(words: Uint32Array, record: number, field: Field, value: bigint): void {
  const at = record + placeOf(field);
  const shift = BigInt(field.shift);
  const mask = ((1n << BigInt(field.bits)) - 1n) << shift;
  const all = (wordAt(words, at) & ~mask) | ((value << shift) & mask);
  words[at] = Number(all & 0xffffffffn);
  words[at + 1] = Number(all >> 32n);
}
