/**
 * What the host says of a file before its records are read: times, communicators, strings. All of it is made anew for each file, because the
 * memory of the file before is used again (`begin` in index.ts).
 */

import { Comm } from './comm';
import { FileTexts, useTexts } from './file_texts';

export class FileFacts extends FileTexts {
  readonly comms: Map<u32, Comm> = new Map<u32, Comm>();
  /** Of other processes, for which this one executes operations. Records cannot name them. */
  readonly origins: Comm[] = [];
  readonly unknownComm: Comm = new Comm(-1, 0, -1, 0, NaN, 0);
  private lastNumber: u32 = 0xffffffff;
  private last: Comm = this.unknownComm;

  constructor(
    /** The raw counter at the start of the recording. */
    readonly tickBase: u64,
    /** Farthest tick from the start that counts as a time, both ways. */
    readonly farthest: f64,
    readonly nsPerTick: f64,
    /** Ticks per second. */
    readonly tickHz: f64,
    /** ns since the epoch, at the start of the recording. */
    readonly startRealtime: u64,
    /** The upper 17 bits of every handle of this process. */
    readonly tag17: u32,
  ) {
    super();
  }

  /** The communicator of that number, or `unknownComm`. */
  commOf(number: u32): Comm {
    if (number != this.lastNumber) {
      this.lastNumber = number;
      this.last = this.comms.has(number) ? this.comms.get(number) : this.unknownComm;
    }
    return this.last;
  }
}

let current: FileFacts | null = null;

export function useFile(facts: FileFacts): void {
  current = facts;
  useTexts(facts);
}

/** The file that is being read. */
export function file(): FileFacts {
  return current!;
}

export function isSameText(a: u32, b: u32): bool {
  return a == b || file().sameText(a) == file().sameText(b);
}
