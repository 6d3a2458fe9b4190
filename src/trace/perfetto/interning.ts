/**
 * Strings that a sequence writes once and names by number afterwards. A string rides in the packet that first uses
 * it, so the table keeps the new ones until that packet's end. Beyond the limit a table takes no more and its users
 * write their strings inline: names are few by contract, and an argument that is not must not fill the memory.
 */

import { BYTES, MAX_VARINT, VARINT, closeLength, putVarint, tag } from './wire.js';
import type { Chunks } from './chunks.js';

const IID = tag(1, VARINT);
const TEXT = tag(2, BYTES);

export const INTERN_LIMIT = 1 << 16;

const utf8 = new TextEncoder();

export class InternTable {
  private readonly ids = new Map<string, number>();
  /** Used by the packet being written for the first time; they have the last ids given out. */
  private readonly fresh: string[] = [];

  /** `field`: which list of InternedData these strings go to. */
  constructor(
    private readonly field: number,
    private readonly limit: number = INTERN_LIMIT,
  ) {}

  /** From 1; 0 means that the table is full and the string has to be written inline. */
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

/** Length and bytes of a string, in UTF-8; a lone surrogate becomes U+FFFD, since the bytes have to be valid. */
export function putText(out: Chunks, at: number, text: string): number {
  out.reserve(at, 3 * text.length + 2 * MAX_VARINT);
  const { written } = utf8.encodeInto(text, out.bytes.subarray(at + 1));
  return closeLength(out.bytes, at, at + 1 + written);
}
