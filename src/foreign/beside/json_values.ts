/**
 * Cuts a JSON object into values, chunk by chunk, so that `JSON.parse` reads them one by one: its members, and of one array each element. This
 * looks for quotes, brackets and numbers only. Whether a value is JSON is for `JSON.parse` to say.
 */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A double holds any number of so many characters. */
const EXACT = 15;
/** Begins a text that stands for a number. */
const DIGITS = '\0';
const DIGITS_QUOTED = String.raw`"\u0000`;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The digits of a number that a double would round: it is kept as text; null: it is something else. */
export const digitsOf = (value: Json | undefined): string | null =>
  typeof value === 'string' && value.startsWith(DIGITS) ? value.slice(1) : null;

const [OTHER, QUOTE, ESCAPE, OPEN, CLOSE, DIGIT, SPACE, COMMA, COLON] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  const kinds = ['', '"', '\\', '{[', '}]', '0123456789+-.eE', ' \t\n\r', ',', ':'];
  return Math.max(
    OTHER,
    kinds.findIndex((chars) => chars.includes(char)),
  );
});
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** What may stand here, between two values. */
type Place =
  | 'object'
  | 'first key'
  | 'key'
  | 'colon'
  | 'value'
  | 'comma'
  | 'first element'
  | 'element'
  | 'next element'
  | 'end';
/** Where a value may begin, and what follows it. */
const AFTER: { readonly [Of in Place]?: Place } = {
  'first key': 'colon',
  key: 'colon',
  value: 'comma',
  'first element': 'next element',
  element: 'next element',
};

export interface JsonCuts {
  /** Its elements are given one by one, with the text of which JSON.parse makes the same value. */
  readonly array: string;
  readonly element: (value: Json, text: string) => void;
  /** The other members. */
  readonly member: (name: string, value: Json) => void;
  /** A value is nested so deep, or has so many bytes. May throw. */
  readonly check: (depth: number, bytes: number) => void;
}

export class JsonValues {
  /** Where the newest value begins, in bytes. */
  newest = 0;
  hasArray = false;
  private earlier = 0;
  private place: Place = 'object';
  private key = '';
  private isInside = false;
  /** Parts of the value that is not over, in earlier chunks, and their bytes. */
  private parts: Buffer[] = [];
  private partBytes = 0;
  private depth = 0;
  private isText = false;
  private isEscaped = false;
  /** Bytes of a number up to here. */
  private digits = 0;
  /** Begin and end of numbers that a double would round, in bytes from the value's begin. */
  private long: number[] = [];

  constructor(private readonly cuts: JsonCuts) {}

  /** Throws Error: this is no JSON. */
  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (!this.isInside) {
        if (KINDS[chunk[at]!] === SPACE || this.isPunctuation(chunk[at]!)) {
          at++;
          continue;
        }
        if (AFTER[this.place] === undefined) throw new Error('something that is no JSON');
        this.isInside = true;
        this.newest = this.earlier + at;
      }
      const end = this.endOf(chunk, at);
      const bytes = this.partBytes + (end ?? chunk.length) - at;
      this.cuts.check(this.depth, bytes);
      if (end === null) {
        this.parts.push(chunk.subarray(at));
        this.partBytes = bytes;
        break;
      }
      if (this.parts.length === 0) this.give(textIn(chunk, at, end, this.long));
      else this.give(textIn(Buffer.concat([...this.parts, chunk.subarray(at, end)]), 0, bytes, this.long));
      at = end;
    }
    this.earlier += chunk.length;
  }

  /** Throws Error: the object is not over. */
  end(): void {
    if (this.place !== 'end') throw new Error('it ends in the middle of a value');
  }

  /** Between values. Also the brackets of the object and of the array. */
  private isPunctuation(byte: number): boolean {
    const next = this.placeAfter(byte);
    if (next !== null) this.place = next;
    return next !== null;
  }

  private placeAfter(byte: number): Place | null {
    const { place, key, cuts } = this;
    const kind = KINDS[byte];
    switch (place) {
      case 'object':
        return byte === BRACE ? 'first key' : null;
      case 'first key':
        return byte === BRACE_END ? 'end' : null;
      case 'colon':
        return kind === COLON ? 'value' : null;
      case 'value':
        if (byte !== BRACKET || key !== cuts.array) return null;
        this.hasArray = true;
        return 'first element';
      case 'comma':
        return kind === COMMA ? 'key' : byte === BRACE_END ? 'end' : null;
      case 'first element':
        return byte === BRACKET_END ? 'comma' : null;
      case 'next element':
        return kind === COMMA ? 'element' : byte === BRACKET_END ? 'comma' : null;
      default:
        return null;
    }
  }

  /** Where the value ends in this chunk; null: in a later one. */
  private endOf(chunk: Buffer, from: number): number | null {
    let { depth, isText, isEscaped, digits } = this;
    let end: number | null = null;
    for (let at = from; at < chunk.length; at++) {
      const kind = KINDS[chunk[at]!];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (kind === ESCAPE) isEscaped = true;
        else if (kind === QUOTE) {
          isText = false;
          if (depth === 0) end = at + 1;
        }
      } else if (kind === DIGIT) digits++;
      else {
        if (digits > EXACT) this.noteNumber(this.partBytes + at - from, digits);
        digits = 0;
        if (kind === QUOTE) isText = true;
        else if (kind === OPEN) this.cuts.check(++depth, 0);
        else if (kind === CLOSE && depth > 0) end = --depth === 0 ? at + 1 : null;
        // A word or a number has no end of its own.
        else if (depth === 0 && kind !== OTHER) end = at;
      }
      if (end !== null) break;
    }
    Object.assign(this, { depth, isText, isEscaped, digits });
    return end;
  }

  private noteNumber(end: number, length: number): void {
    this.long.push(end - length, end);
  }

  private give(text: string): void {
    const value = parse(text);
    const { place, key, cuts } = this;
    this.isInside = false;
    this.parts = [];
    this.partBytes = 0;
    this.long = [];
    this.place = AFTER[place]!;
    if (place === 'value') cuts.member(key, value);
    else if (this.place === 'next element') cuts.element(value, text);
    else if (typeof value === 'string' && digitsOf(value) === null) this.key = value;
    else throw new Error('a name that is no text');
  }
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('a value that is no JSON');
  }
}

/** `long`: begins and ends of numbers, in bytes from `from`. They become texts. */
function textIn(bytes: Buffer, from: number, to: number, long: readonly number[]): string {
  let text = '';
  let at = from;
  for (let i = 0; i < long.length; i += 2) {
    const [start, end] = [from + long[i]!, from + long[i + 1]!];
    const digits = bytes.toString('latin1', start, end);
    if (!NUMBER.test(digits)) throw new Error('a number that is none');
    if (isName(bytes, end, to)) throw new Error('a name that is no text');
    text += `${bytes.toString('utf8', at, start)}${DIGITS_QUOTED}${digits}"`;
    at = end;
  }
  return text + bytes.toString('utf8', at, to);
}

/** Whether what ends there is the name of a member. */
function isName(bytes: Buffer, end: number, to: number): boolean {
  let at = end;
  while (at < to && KINDS[bytes[at]!] === SPACE) at++;
  return at < to && KINDS[bytes[at]!] === COLON;
}
