/** The texts of the file that is being read, by their numbers in it. */

/** Facts about a text, by its number in the file. */
export const enum TextFlag {
  /** Functions with a root: NCCL's root of other functions means nothing. */
  HasRoot = 1,
  /** The file lacks the text. */
  IsLost = 2,
  /** The name of a protocol that reports arrival (SIMPLE). */
  IsSimple = 4,
  /** The function of a P2p that receives. */
  IsRecv = 8,
}

export class FileTexts {
  /** By number of the text. Texts that the host does not name are lost. */
  readonly textFlags: StaticArray<u8> = new StaticArray<u8>(1 << 16).fill(<u8>TextFlag.IsLost);
  /** By number of the text: one more than the number of the first text that is equal; 0: it is not named. */
  private readonly first: StaticArray<u16> = new StaticArray<u16>(1 << 16);
  private readonly units: Map<u32, StaticArray<u16>> = new Map<u32, StaticArray<u16>>();

  /** The same number for equal texts. */
  sameText(text: u32): u32 {
    const first = <u32>this.first[text];
    return first == 0 ? text : first - 1;
  }

  /** Memory for the UTF-16 units of a text. `same`: the first text that is equal. */
  addText(text: u32, length: i32, flags: u8, same: u32): usize {
    this.first[text] = <u16>(same + 1);
    const units = new StaticArray<u16>(length);
    this.units.set(text, units);
    this.textFlags[text] = flags;
    return changetype<usize>(units);
  }

  unitsOf(text: u32): StaticArray<u16> {
    if (this.units.has(text)) return this.units.get(text);
    // As src/base/lost_text.ts names it.
    const name = 'string ' + text.toString() + ' lost';
    const units = new StaticArray<u16>(name.length);
    for (let i = 0; i < name.length; i++) units[i] = <u16>name.charCodeAt(i);
    this.units.set(text, units);
    return units;
  }

  @inline
  hasText(text: u32, flag: TextFlag): bool {
    return (this.textFlags[text] & (flag as u8)) != 0;
  }
}

let current: FileTexts | null = null;

export function useTexts(texts: FileTexts): void {
  current = texts;
}

/** Those of the file that is being read. */
export function fileTexts(): FileTexts {
  return current!;
}
