/**
 * Reads the rank file's contract out of its three texts: the C++ header, the normative document, the TypeScript
 * constants. Each becomes plain maps with the names of the header, so the maps can be compared.
 */

import * as constants from '../../../src/rankfile/format/constants.js';
import { LAYOUTS, MIN_PARTS } from '../../../src/rankfile/format/layouts.js';
import { EventType, State } from '../../../src/rankfile/format/nccl.js';

export type Numbers = Record<string, bigint>;

/** One field of a structure: "offset size type", as the document writes it. */
export type Struct = Record<string, string>;

export interface Contract {
  readonly magic: string;
  readonly constants: Numbers;
  readonly enums: Record<string, Numbers>;
  readonly structs: Record<string, Struct>;
  /** By kind: "tick | parent | comm:32 rank:32 ; ..." */
  readonly words: Record<string, readonly string[]>;
}

// --- the header ------------------------------------------------------------------------------------------------------

export function fromHeader(text: string): Contract {
  const constants = headerConstants(text);
  const enums: Record<string, Numbers> = {};
  for (const [, name = '', body = ''] of text.matchAll(/enum (\w+) : \w+ \{(.*?)\};/gs))
    enums[name] = Object.fromEntries(
      [...body.replace(/\/\/.*$/gm, '').matchAll(/k(\w+) = (\w+)/g)].map(([, key = '', value = '']) => [
        key,
        BigInt(value),
      ]),
    );
  const structs: Record<string, Struct> = {};
  for (const [, name = '', body = ''] of text.matchAll(/^struct (\w+) \{(.*?)^\};/gms))
    if (name !== 'Slot') structs[name] = layOut(body, constants);
  return { magic: headerMagic(text), constants, enums, structs, words: headerWords(text) };
}

/** Every scalar constexpr, evaluated: they are integers, shifts and masks of each other. */
function headerConstants(text: string): Numbers {
  const values: Numbers = {};
  for (const [, name = '', expression = ''] of text.matchAll(/^constexpr u?int\w* (k\w+) = (.*?);/gm)) {
    const script = expression
      .replace(/uint64_t\{(\w+)\}/g, '$1')
      .replace(/\b(0x[0-9a-fA-F]+|\d+)u?\b/g, '$1n')
      .replace(/\bk[A-Z]\w*/g, (reference) => `${values[reference.slice(1)]}n`);
    if (!/^[-0-9a-fA-Fxn\s()<>|&~]+$/.test(script))
      throw new Error(`cannot evaluate ${name} = ${expression}`);
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- arithmetic only, checked above
    const evaluate = new Function(`return ${script}`) as () => bigint;
    values[name.slice(1)] = BigInt.asUintN(64, evaluate());
  }
  return values;
}

function headerMagic(text: string): string {
  const bytes = /kMagic\[8\] = \{(.*?)\}/.exec(text)?.[1] ?? '';
  return bytes
    .split(',')
    .map((byte) => byte.trim())
    .map((byte) => (byte.startsWith("'") ? byte.charCodeAt(1) : Number(byte)))
    .map((byte) => byte.toString(16).padStart(2, '0').toUpperCase())
    .join(' ');
}

const CXX_TYPES: Record<string, readonly [size: number, type: string]> = {
  uint8_t: [1, 'u8'],
  char: [1, 'text'],
  uint16_t: [2, 'u16'],
  uint32_t: [4, 'u32'],
  int32_t: [4, 'i32'],
  uint64_t: [8, 'u64'],
};

/** Offsets by natural alignment, as the C++ ABI lays a struct out. */
function layOut(body: string, constants: Numbers): Struct {
  const fields: Struct = {};
  let end = 0;
  for (const [, cxx = '', name = '', count] of body.matchAll(/^\s+(\w+) (\w+)(?:\[(\w+)\])?;/gm)) {
    const [size, type] = CXX_TYPES[cxx] ?? [0, cxx];
    const times = count === undefined ? 1 : Number(constants[count.slice(1)] ?? count);
    const offset = Math.ceil(end / size) * size;
    const shown =
      cxx === 'uint8_t' ? 'bytes' : count === undefined || cxx === 'char' ? type : `${type}[${times}]`;
    fields[name] = `${offset} ${size * times} ${shown}`;
    end = offset + size * times;
  }
  return fields;
}

/** What the static_asserts of the header say about offsets, to check `layOut` itself. */
export function assertedOffsets(text: string): { struct: string; field: string; offset: number }[] {
  return [...text.matchAll(/offsetof\((\w+), (\w+)\) == (\d+)/g)].map(
    ([, struct = '', field = '', offset = '']) => ({ struct, field, offset: Number(offset) }),
  );
}

/** The layout of words in the comments behind the enumerators of Kind. A name with spaces is prose. */
function headerWords(text: string): Record<string, readonly string[]> {
  const body = /enum Kind : uint8_t \{(.*?)\};/s.exec(text)?.[1] ?? '';
  const words: Record<string, readonly string[]> = {};
  for (const [, name = '', comment = ''] of body.matchAll(/k(\w+) = \w+,((?:\s*\/\/[^\n]*)*)/g)) {
    const flat = comment.replace(/\n?\s*\/\//g, ' ');
    const slots = flat.split(/ ;|\. | {2}two slots/).filter((slot) => slot.split('|').length === 3);
    if (slots.length > 0) words[name] = slots.map(wordsOfSlot);
  }
  return words;
}

function wordsOfSlot(slot: string): string {
  const [first = '', second = '', third = ''] = slot.split('|');
  return [first.split(': ').at(-1) ?? '', second, third.split(/\(| {2}|\./)[0] ?? '']
    .map((word) => word.trim())
    .join(' | ');
}

// --- the document ----------------------------------------------------------------------------------------------------

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** All tables, with the heading above each. */
export function tablesOf(markdown: string): Table[] {
  const tables: { title: string; head: string[]; rows: string[][] }[] = [];
  let title = '';
  let open = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('#')) title = line.replace(/^#+ /, '');
    const cells = line.startsWith('|')
      ? line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim())
      : null;
    if (cells === null) open = false;
    else if (!open) {
      tables.push({ title, head: cells, rows: [] });
      open = true;
    } else if (!line.startsWith('|---')) tables.at(-1)?.rows.push(cells);
  }
  return tables;
}

const ENUMS: Record<string, string> = {
  Life: 'Life',
  Mode: 'Mode',
  TickSource: 'TickSource',
  Placement: 'Placement',
  Codec: 'Codec',
  'Area classes': 'AreaClass',
  Kinds: 'Kind',
  'Event types': 'EventType',
  'Event states': 'EventState',
};

export function fromDocument(markdown: string): Contract & { readonly slots: Record<string, string> } {
  const tables = tablesOf(markdown);
  const contract = {
    magic: '',
    constants: {} as Numbers,
    enums: {} as Record<string, Numbers>,
    structs: {} as Record<string, Struct>,
    words: {} as Record<string, string[]>,
    slots: {} as Record<string, string>,
  };
  for (const { title, head, rows } of tables) {
    const isWords = head.join() === 'slot,word 0,word 1,word 2';
    const asEnum = ENUMS[title];
    if (title === 'Constants')
      for (const [name = '', value = ''] of rows) contract.constants[camel(name)] = BigInt(value);
    else if (asEnum !== undefined)
      contract.enums[asEnum] = Object.fromEntries(
        rows.map(([value = '', name = '']) => [name, BigInt(value)]),
      );
    else if (head[0] === 'offset')
      contract.structs[title] = Object.fromEntries(
        rows.map(([offset = '', size = '', type = '', name = '']) => [name, `${offset} ${size} ${type}`]),
      );
    else if (isWords)
      (contract.words[title] ??= []).push(rows.map((row) => row.slice(1).join(' | ')).join(' ; '));
    if (title === 'Kinds') for (const [, name = '', slots = ''] of rows) contract.slots[name] = slots;
    if (title === 'FileHeader') contract.magic = rows[0]?.[4]?.replaceAll('`', '') ?? '';
  }
  return contract;
}

/** HEADER_BYTES is HeaderBytes. */
const camel = (name: string): string =>
  name.replace(/([A-Z0-9])([A-Z0-9]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());

// --- the TypeScript constants ----------------------------------------------------------------------------------------

/** `structs` here: offsets alone, without reserved fields. */
export function fromTypeScript(): Contract & { readonly slots: Record<string, string> } {
  const scalars: Numbers = {};
  for (const [name, value] of Object.entries(constants))
    if ((typeof value === 'number' || typeof value === 'bigint') && !SIZES.includes(name))
      scalars[camel(name)] = BigInt(value);
  const numbers = (values: Record<string, number>): Numbers =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, BigInt(value)]));
  const { Kind, Life, Mode, TickSource, Placement, Codec, AreaClass } = constants;
  const tables = { Kind, Life, Mode, TickSource, Placement, Codec, AreaClass, EventType, EventState: State };
  const structs = {
    FileHeader: constants.FILE_HEADER,
    AreaEntry: constants.AREA_ENTRY,
    AreaLive: constants.AREA_LIVE,
    Fold: constants.FOLD,
    ChunkHeader: constants.CHUNK_HEADER,
  };
  return {
    magic: constants.MAGIC.map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(' '),
    constants: scalars,
    enums: Object.fromEntries(Object.entries(tables).map(([name, values]) => [name, numbers(values)])),
    structs: Object.fromEntries(Object.entries(structs).map(([name, fields]) => [name, offsetsOf(fields)])),
    words: Object.fromEntries(
      [...LAYOUTS.values()].map(({ name, layouts }) => [name, layouts.map(({ notation }) => notation)]),
    ),
    slots: Object.fromEntries(
      [...LAYOUTS.values()].map(({ kind, name, layouts }) => [name, slotRange(kind, layouts)]),
    ),
  };
}

/** Sizes of structures: the header has them as sizeof. */
const SIZES = ['AREA_ENTRY_BYTES', 'AREA_LIVE_BYTES', 'FOLD_BYTES', 'CHUNK_HEADER_BYTES'];

function offsetsOf(fields: Record<string, number>): Struct {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, offset]) => [snake(name), `${offset}`]));
}

function slotRange(kind: number, layouts: readonly { readonly slots: number }[]): string {
  const least = MIN_PARTS[kind] ?? 0;
  const most = Math.max(least, ...layouts.map(({ slots }) => slots));
  return least === most ? `${least}` : `${least} to ${most}`;
}
