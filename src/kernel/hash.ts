/**
 * The hashes of src/base/hash.ts: the same on every rank. A hash is made word by word, in two independent lanes of 32 bits. One is made at
 * a time, in a place outside the memory of a file.
 */

import { fileTexts } from './file_texts';

@unmanaged
export class Hash {
  private high: u32;
  private low: u32;

  begin(): void {
    this.high = 0x6e63636c;
    this.low = 0x74726163;
  }

  get bits(): u64 {
    return ((<u64>this.high) << 32) | this.low;
  }

  setBits(bits: u64): void {
    this.high = <u32>(bits >> 32);
    this.low = <u32>bits;
  }

  addWord(word: u32): void {
    this.high = avalanche((this.high * 0x9e3779b1) ^ word);
    this.low = avalanche(this.low * 0x85ebca77 + word + 0x165667b1);
  }

  addLong(value: u64): void {
    this.addWord(<u32>value);
    this.addWord(<u32>(value >> 32));
  }

  addString(text: string): void {
    this.addWord(text.length);
    for (let i = 0; i < text.length; i++) this.addWord(text.charCodeAt(i));
  }

  /** `text`: its number in the file. */
  addText(text: u32, prefix: string = ''): void {
    const units = fileTexts().unitsOf(text);
    const length = <u32>units.length;
    this.addWord(prefix.length + length);
    for (let i = 0; i < prefix.length; i++) this.addWord(prefix.charCodeAt(i));
    for (let i: u32 = 0; i < length; i++) this.addWord(units[i]);
  }

  /** The upper 52 bits as a positive safe integer. */
  get number(): f64 {
    const value = <f64>this.high * 0x100000 + <f64>(this.low >> 12);
    return value == 0 ? 1 : value;
  }
}

const place: usize = memory.data(8);

/** Ends the hash before it. */
export function newHash(): Hash {
  const hash = changetype<Hash>(place);
  hash.begin();
  return hash;
}

/** The finalizer of MurmurHash3: every input bit reaches every output bit. */
function avalanche(word: u32): u32 {
  let h = word;
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  h = (h ^ (h >> 13)) * 0xc2b2ae35;
  return h ^ (h >> 16);
}
