/**
 * Strings that a sequence writes once and then names by number. The packet that first uses a string also defines it, so the table keeps new
 * strings until that packet's end. If the table is full, further strings are written inline. Names are few by contract, but arguments could
 * fill the memory.
 */

import { BYTES, MAX_VARINT, VARINT, closeLength, putVarint, tag } from './wire.js';
import type { Chunks } from './chunks.js';

const IID = tag(1, VARINT);
const TEXT = tag(2, BYTES);

export const INTERN_LIMIT = 1 << 16;

const utf8 = new TextEncoder();

export class InternTable {
  private readonly ids = new Map<string, number>();
  /** Strings that the current packet uses first. They have the newest ids. */
  private readonly fresh: string[] = [];

  /** `field`: the list of InternedData for these strings. */
  constructor(
    private readonly field: number,
    private readonly limit: number = INTERN_LIMIT,
  ) {}

  /** From 1; 0: the table is full, so write the string inline. */
  idOf(text: string): number {
    return this.ids.get(text) ?? this.add(text);
  }

  /** 0: not written yet, or the table is full. */
  known(text: string): number {
    return this.ids.get(text) ?? 0;
  }

  private add(text: string): number {
    const id = this.ids.size + 1;
    if (id > this.limit) return 0;
    this.ids.set(text, id);
    this.fresh.push(text);
    return id;
  }

  get hasFresh(): boolean {
    return this.fresh.length > 0;
  }

  /** Writes the new entries into the InternedData message that begins before `at`. */
  putFresh(out: Chunks, at: number): number {
    let id = this.ids.size - this.fresh.length;
    for (const text of this.fresh) {
      at = putVarint(out.bytes, at, tag(this.field, BYTES));
      const lengthAt = at++;
      out.bytes[at++] = IID;
      at = putVarint(out.bytes, at, ++id);
      out.bytes[at++] = TEXT;
      at = putText(out, at, text);
      at = closeLength(out.bytes, lengthAt, at);
    }
    this.fresh.length = 0;
    return at;
  }
}

/** The numbers of a few strings by their index in a list, without a look-up by text. */
export class KnownIds {
  private readonly ids: Uint32Array;

  constructor(
    private readonly table: InternTable,
    private readonly texts: readonly string[],
  ) {
    this.ids = new Uint32Array(texts.length);
  }

  /** 0: not written yet, or the table is full. */
  idOf(index: number): number {
    const id = this.ids[index]!;
    return id === 0 ? (this.ids[index] = this.table.known(this.texts[index]!)) : id;
  }
}

/** Length and bytes of a string, in UTF-8. A lone surrogate becomes U+FFFD, because the bytes must be valid. */
export function putText(out: Chunks, at: number, text: string): number {
  out.reserve(at, 3 * text.length + 2 * MAX_VARINT);
  const { written } = utf8.encodeInto(text, out.bytes.subarray(at + 1));
  return closeLength(out.bytes, at, at + 1 + written);
}
