/**
 * What the host says of a file before its records are read: times, communicators, strings. All of it is made anew for each file, because the
 * memory of the file before is used again (`begin` in index.ts).
 */

import { CommOps } from './draw/in_flight';
import { CommLanes } from './draw/lanes';
import { Text } from './draw/texts';
import { Track } from './draw/tracks';

/** A communicator as the file's table names it, and `unknownComm` for all that the table does not name. */
export class Comm {
  /** What the drawing keeps of it: its group of tracks, lanes of its works, its operations in flight, its name. */
  group: Track | null = null;
  collLanes: CommLanes | null = null;
  pointLanes: CommLanes | null = null;
  opsInFlight: CommOps | null = null;
  label: Text | null = null;
  /** Not selected: none of its events is drawn. */
  isLeftOut: bool = false;

  /** Place among the communicators that events named, in the order of their first event; -1: none did. */
  place: i32 = -1;
  /** Tick of the newest move (progress.ts); NaN: none. */
  lastMove: f64 = NaN;

  constructor(
    /** In the file's table; -1: not known. */
    readonly number: i32,
    /** 0: not reported. */
    readonly commId: u64,
    readonly rank: i32,
    readonly nRanks: i32,
    /** Tick; NaN: it was not finalized. */
    readonly finalized: f64,
    /** Version of the profiler interface. */
    readonly abi: i32,
  ) {}

  @inline
  get isKnown(): bool {
    return this.number >= 0;
  }

  /** Events of a communicator that come after its finalize move nothing. */
  moved(at: f64): void {
    if (at > this.finalized) return;
    if (!(this.lastMove >= at)) this.lastMove = at;
  }
}

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

export class FileFacts {
  readonly comms: Map<u32, Comm> = new Map<u32, Comm>();
  /** Of other processes, for which this one executes operations. Records cannot name them. */
  readonly origins: Comm[] = [];
  readonly unknownComm: Comm = new Comm(-1, 0, -1, 0, NaN, 0);
  /** By number of the text. Texts that the host does not name are lost. */
  readonly textFlags: StaticArray<u8> = new StaticArray<u8>(1 << 16).fill(<u8>TextFlag.IsLost);
  /** By number of the text: one more than the number of the first text that is equal; 0: it is not named. */
  private readonly first: StaticArray<u16> = new StaticArray<u16>(1 << 16);
  private readonly units: Map<u32, StaticArray<u16>> = new Map<u32, StaticArray<u16>>();
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
  ) {}

  /** The communicator of that number, or `unknownComm`. */
  commOf(number: u32): Comm {
    if (number != this.lastNumber) {
      this.lastNumber = number;
      this.last = this.comms.has(number) ? this.comms.get(number) : this.unknownComm;
    }
    return this.last;
  }

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

let current: FileFacts | null = null;

export function useFile(facts: FileFacts): void {
  current = facts;
}

/** The file that is being read. */
export function file(): FileFacts {
  return current!;
}

export function isSameText(a: u32, b: u32): bool {
  return a == b || file().sameText(a) == file().sameText(b);
}
