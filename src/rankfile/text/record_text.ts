/**
 * One record as a line, and back: its kind, then each field by name, as src/rankfile/format/layouts.ts describes it. A record is only written so if
 * the line gives back the same words. All others (unknown kinds, bits that no layout has) are written slot by slot (slot_text.ts).
 */

import * as format from '../format/constants.js';
import { CONTEXT_RING, HANDLE_TAG_MASK, Kind, type KindName } from '../format/constants.js';
import { type Field, type Layout, LAYOUTS } from '../format/layouts.js';
import { State, stateName } from '../format/nccl.js';
import { bigintOf, Line, LineFault, quoted, textOf } from './line.js';

/** What the fields of a file's records refer to. */
export interface Names {
  readonly tag: bigint;
  readonly startTick: bigint;
  /** By id. */
  readonly strings: readonly (string | undefined)[];
}

/** A record: three words per slot. */
export interface Words {
  readonly kind: number;
  readonly words: readonly bigint[];
}

/** Where a kind has a text: byte of the words, its room, and the field with its length. */
interface TextPlace {
  readonly name: string;
  readonly at: number;
  readonly room: number;
  readonly length: string | null;
}

const TEXTS: ReadonlyMap<number, TextPlace> = new Map([
  [Kind.Communicator, { name: 'name', at: 48, room: format.MAX_COMM_NAME_BYTES, length: 'nameLength' }],
  [Kind.String, { name: 'text', at: 16, room: format.MAX_STRING_BYTES, length: 'length' }],
  [Kind.Lease, { name: 'threadName', at: 24, room: 16, length: null }],
]);

/**
 * `hide`: gives the text that stands in place of the record's own; null: nothing is hidden. Returns null if no line gives back the record.
 */
export function recordLine(
  record: Words,
  names: Names,
  hide: ((kind: number, text: string) => string) | null,
): string | null {
  const { kind, words } = record;
  const parts = words.length / 3;
  const layout = layoutOf(kind, parts);
  if (layout === undefined || parts < LAYOUTS.get(kind)!.minSlots) return null;
  const place = TEXTS.get(kind);
  const tokens = layout.fields.slice(1).flatMap((field) => {
    if (field.slot >= parts || field.name === place?.length || field.name === 'bytes') return [];
    const token = fieldToken(kind, field, bitsOf(words, field), names);
    return token === null ? [] : [`${field.name}=${token}`];
  });
  const start = `${words[0]! - names.startTick} ${LAYOUTS.get(kind)!.name}`;
  const texts = place === undefined ? [] : textTokens(record, place, hide);
  const line = [start, ...tokens, ...texts].join(' ');
  if (place !== undefined && hide !== null) return line;
  return [line, `${line} parts=${parts}`].find((one) => givesBack(one, record, names)) ?? null;
}

function givesBack(text: string, { kind, words }: Words, names: Names): boolean {
  const line = new Line(text);
  const idOf = (string: string): number => names.strings.indexOf(string);
  const back = recordWords(kind, bigintOf(line.words[0]!), line, { ...names, idOf }).words;
  return back.length === words.length && back.every((word, i) => word === words[i]);
}

const layoutOf = (kind: number, parts: number): Layout | undefined => {
  const layouts = LAYOUTS.get(kind)?.layouts;
  return layouts?.findLast((layout) => layout.slots <= parts) ?? layouts?.[0];
};

const bitsOf = (words: readonly bigint[], { slot, word, shift, bits }: Field): bigint =>
  BigInt.asUintN(bits, words[slot * 3 + word]! >> BigInt(shift));

function textTokens(
  record: Words,
  place: TextPlace,
  hide: ((kind: number, text: string) => string) | null,
): string[] {
  const { text, length } = textIn(record, place);
  const shown = hide === null ? text : hide(record.kind, text);
  const tokens = shown === '' ? [] : [`${place.name}=${quoted(shown)}`];
  if (place.length !== null && hide === null && length !== Buffer.byteLength(text))
    tokens.push(`${place.length}=${length}`);
  return tokens;
}

/** As the reader reads it: a length and a NUL both end it. */
function textIn({ words, kind }: Words, { at, room, length }: TextPlace): { text: string; length: number } {
  const field = LAYOUTS.get(kind)!.layouts[0]!.fields.find(({ name }) => name === length);
  const stated = field === undefined ? room : Number(bitsOf(words, field));
  const bytes = Buffer.from(BigUint64Array.from(words).buffer).subarray(at, at + Math.min(room, stated));
  const end = bytes.indexOf(0);
  return { text: (end === -1 ? bytes : bytes.subarray(0, end)).toString('utf8'), length: stated };
}

/** null: a zero that says nothing. */
function fieldToken(kind: number, field: Field, value: bigint, names: Names): string | null {
  const { type, bits, name } = field;
  if (type === 'number')
    return name === 'value' && value === BigInt(format.NO_VALUE) ? 'none' : String(value);
  if (type === 'signed') return String(BigInt.asIntN(bits, value));
  if (type === 'comm') return commToken(Number(value));
  if (type === 'state') return stateToken(kind, Number(value));
  if (value === 0n) return null;
  if (type === 'tick') return String(value - names.startTick);
  if (type === 'string') return stringToken(Number(value), names.strings);
  if (type === 'handle') return handleToken(value, names.tag);
  return `0x${value.toString(16)}`;
}

const commToken = (comm: number): string =>
  comm === format.COMM_NONE ? 'none' : comm === format.COMM_FOREIGN ? 'foreign' : String(comm);

function stateToken(kind: number, state: number): string {
  if (kind === Kind.Fold && state === format.FOLD_OF_START) return 'start';
  const name = stateName(state);
  return Object.hasOwn(State, name) ? name : String(state);
}

function stringToken(id: number, strings: Names['strings']): string {
  const text = strings[id];
  const isUsable = text !== undefined && text !== '' && strings.indexOf(text) === id;
  return isUsable ? quoted(text) : `#${id}`;
}

/** `2:1042` is the record at position 1042 of ring 2, `2:1042~` the same if it was sampled out. */
export function handleToken(handle: bigint, tag: bigint): string {
  if (handle === 0n) return 'none';
  if ((handle & HANDLE_TAG_MASK) !== (tag & HANDLE_TAG_MASK)) return `0x${handle.toString(16)}`;
  const ring = Number((handle >> 41n) & 63n);
  const position = (handle >> 1n) & BigInt(format.HANDLE_POSITION_MASK);
  return `${ring === CONTEXT_RING ? 'context' : ring}:${position}${(handle & 1n) === 1n ? '~' : ''}`;
}

export function handleOf(token: string, tag: bigint): bigint {
  if (token === 'none') return 0n;
  const [, ring, position, muted] = /^(context|\d+):(\d+)(~?)$/.exec(token) ?? [];
  if (ring === undefined) return BigInt.asUintN(64, bigintOf(token));
  const place = ring === 'context' ? CONTEXT_RING : Number(ring);
  if (place > CONTEXT_RING) throw new LineFault(`${token}: there are ${CONTEXT_RING} rings`);
  const low = BigInt.asUintN(40, BigInt(position!)) << 1n;
  return (tag & HANDLE_TAG_MASK) | (BigInt(place) << 41n) | low | (muted === '~' ? 1n : 0n);
}

const kinds = new Map<string, KindName>(Object.keys(Kind).map((name) => [name, name as KindName]));

export const kindOf = (word: string): number | undefined => {
  const name = kinds.get(word);
  return name === undefined || !LAYOUTS.has(Kind[name]) ? undefined : Kind[name];
};

/** `idOf`: the id of a string, which is made if it is new. */
export function recordWords(
  kind: number,
  tick: bigint,
  line: Line,
  names: Names & { readonly idOf: (text: string) => number },
): Words {
  const { layouts, minSlots } = LAYOUTS.get(kind)!;
  const asked = line.takeNumber('parts');
  const layout = kind === Kind.State && needsTwo(line, asked) ? layouts[1]! : layouts[0]!;
  const least = Math.max(minSlots, layout === layouts[1] ? layout.slots : 0);
  const most = Math.max(asked ?? 0, layout.slots, minSlots);
  if (most > format.MAX_PARTS) throw new LineFault(`a record has ${format.MAX_PARTS} parts at most`);
  const words = new Array<bigint>(most * 3).fill(0n);
  words[0] = BigInt.asUintN(64, tick + names.startTick);
  const place = TEXTS.get(kind);
  if (place !== undefined) putText(words, place, line, layout);
  for (const field of layout.fields.slice(1)) {
    const token = line.take(field.name);
    if (token !== undefined) putBits(words, field, valueOf(field, token, names));
  }
  const used = Math.floor(words.findLastIndex((word) => word !== 0n) / 3) + 1;
  return { kind, words: words.slice(0, (asked ?? Math.max(least, used)) * 3) };
}

function needsTwo(line: Line, asked: number | undefined): boolean {
  if (asked !== undefined) return asked > 1;
  const state = line.peek('state') ?? '0';
  const value = line.peek('value') ?? '0';
  return (/^\d/.test(state) && BigInt(state) > 0xffffn) || (/^\d/.test(value) && BigInt(value) >> 48n > 0n);
}

function putText(words: bigint[], { name, at, room, length }: TextPlace, line: Line, layout: Layout): void {
  const bytes = Buffer.from(textOf(line.take(name) ?? ''));
  if (bytes.length > room) throw new LineFault(`${name} has room for ${room} bytes`);
  const all = new BigUint64Array(words.length);
  new Uint8Array(all.buffer).set(bytes, at);
  all.forEach((word, i) => (words[i] = words[i]! | word));
  const field = layout.fields.find((one) => one.name === length);
  if (field !== undefined) putBits(words, field, bigintOf(line.take(field.name) ?? String(bytes.length)));
}

function putBits(words: bigint[], { slot, word, shift, bits }: Field, value: bigint): void {
  const at = slot * 3 + word;
  words[at] = words[at]! | (BigInt.asUintN(bits, value) << BigInt(shift));
}

function valueOf(
  { type, name }: Field,
  token: string,
  names: Names & { readonly idOf: (text: string) => number },
): bigint {
  if (type === 'handle') return handleOf(token, names.tag);
  if (type === 'tick') return bigintOf(token) + names.startTick;
  if (type === 'string')
    return token.startsWith('#') ? bigintOf(token.slice(1)) : BigInt(names.idOf(textOf(token)));
  if (type === 'state' && Object.hasOwn(State, token)) return BigInt(State[token as keyof typeof State]);
  if (type === 'state' && token === 'start') return BigInt(format.FOLD_OF_START);
  if (type === 'comm' && token === 'none') return BigInt(format.COMM_NONE);
  if (type === 'comm' && token === 'foreign') return BigInt(format.COMM_FOREIGN);
  if (name === 'value' && token === 'none') return BigInt(format.NO_VALUE);
  return bigintOf(token);
}
