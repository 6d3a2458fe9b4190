/** Strings of the trace: equal ones are one object. */

import { fileTexts } from '../file_texts';
import { Text } from './text';

/** Longer ones are not compared with others. */
const LONG: i32 = 4096;

export class Texts {
  private readonly byContent: Map<string, Text> = new Map<string, Text>();
  /** Texts of the source lie below the heap, at multiples of 16. */
  private readonly byAddress: StaticArray<Text | null> = new StaticArray<Text | null>(
    <i32>(__heap_base >> 4),
  );
  private readonly byNumber: Map<u32, Text> = new Map<u32, Text>();
  private readonly byHex: Map<u64, Text> = new Map<u64, Text>();
  private readonly prefixed: Map<u64, Text> = new Map<u64, Text>();
  /** Those of the host, by its numbers. */
  private readonly ofHost: Text[] = [];

  /** Any text. */
  of(content: string): Text {
    if (this.byContent.has(content)) return this.byContent.get(content);
    const bytes = String.UTF8.encode(content, false, String.UTF8.ErrorMode.REPLACE);
    const made = new Text(changetype<usize>(bytes), bytes.byteLength);
    this.byContent.set(content, made);
    return made;
  }

  /** A text of the source, found by its address. */
  fixed(literal: string): Text {
    const place = <i32>(changetype<usize>(literal) >> 4);
    const known = unchecked(this.byAddress[place]);
    if (known !== null) return known;
    const made = this.of(literal);
    this.byAddress[place] = made;
    return made;
  }

  /** A text of the file, by its number. */
  ofFile(number: u32): Text {
    if (this.byNumber.has(number)) return this.byNumber.get(number);
    const made = this.of(this.contentOf(number));
    this.byNumber.set(number, made);
    return made;
  }

  /** `prefix`: a text of the source; `number`: of a text of the file. */
  around(prefix: string, number: u32, suffix: string): Text {
    const key = ((<u64>changetype<usize>(prefix)) << 40) ^ ((<u64>changetype<usize>(suffix)) << 16) ^ number;
    if (this.prefixed.has(key)) return this.prefixed.get(key);
    const made = this.of(prefix + this.contentOf(number) + suffix);
    this.prefixed.set(key, made);
    return made;
  }

  contentOf(number: u32): string {
    const units = fileTexts().unitsOf(number);
    return String.UTF16.decodeUnsafe(changetype<usize>(units), (<usize>units.length) << 1);
  }

  /** "0x7f00" */
  hex(value: u64): Text {
    if (this.byHex.has(value)) return this.byHex.get(value);
    const made = this.of('0x' + hexOf(value));
    this.byHex.set(value, made);
    return made;
  }

  /** Takes a text of the host, in UTF-8. Returns its number for `given`. */
  take(start: usize, length: i32): i32 {
    const text =
      length > LONG ? new Text(start, length) : this.of(String.UTF8.decodeUnsafe(start, <usize>length));
    return this.ofHost.push(text) - 1;
  }

  given(number: i32): Text {
    return this.ofHost[number];
  }
}

export function hexOf(value: u64): string {
  return value.toString(16);
}
