/**
 * All records of a file in the order in which they are paired. Records of steps (four of five) come in long runs of one ring: a step lies in
 * one ring, so its records need only that ring's order. Other records need steps in three cases. An operation's stop ends its steps. Some
 * events name a step as their parent. An operation whose start is not in the file is known only by its steps. So all other rings are merged
 * by tick, then ring, then position, and the rings of steps follow up to the tick of such a record.
 *
 * Rows of a ring keep their order, although ticks of a shared ring may step back a little: a row counts as no earlier than the row before it.
 * The order does not depend on where segments end.
 */

import { CONTEXT_RING, Kind, MAX_RINGS } from './numbers';
import { Pairing } from './pairing';
import { Records, RingReader } from './record';
import { needRoom } from './room';

/** Asks the host for the next segment of a ring, at least one record. It calls `readSegment` meanwhile. False: there is none. */
declare function nextSegment(ring: i32): bool;

export class Cursor {
  row: i32 = 0;
  /** The tick used for the order of `row`. */
  tick: f64 = -Infinity;

  constructor(
    readonly ring: i32,
    readonly isSteps: bool,
    readonly reader: RingReader,
  ) {}

  get isAtEnd(): bool {
    return this.row >= this.reader.records.length;
  }

  /** False if there is no further segment. */
  toNextSegment(): bool {
    needRoom();
    if (!nextSegment(this.ring)) return false;
    this.row = 0;
    this.tick = max(this.tick, this.reader.records.tick[0]);
    return true;
  }

  isBefore(other: Cursor): bool {
    return this.tick < other.tick || (this.tick == other.tick && this.ring < other.ring);
  }

  /** Moves to the first row that is not before the rival's, or to the end of the segment. null: no rival. */
  toRival(rival: Cursor | null): void {
    const records = this.reader.records;
    const length = records.length;
    if (rival === null) {
      this.row = length;
      return;
    }
    // Rows up to and including this tick come first; a tie goes to the lower ring.
    const last = rival.tick;
    const tieIsOurs = this.ring < rival.ring;
    let row = this.row;
    let now = this.tick;
    do {
      row++;
      if (row == length) break;
      now = max(now, records.tickAt(row));
    } while (now < last || (now == last && tieIsOurs));
    this.row = row;
    this.tick = now;
  }

  /** Moves to the first row after this tick, or to the end of the segment. */
  toAfter(last: f64): void {
    const records = this.reader.records;
    const length = records.length;
    let row = this.row;
    let now = this.tick;
    while (now <= last && ++row < length) now = max(now, records.tickAt(row));
    this.row = row;
    this.tick = now;
  }
}

export class Order {
  private readonly steps: Cursor[] = [];
  private readonly others: Cursor[] = [];
  /** By ring: the position of its first record. Infinity for rings of steps, and before the first record. */
  private readonly begin: StaticArray<f64> = new StaticArray<f64>(MAX_RINGS + 1).fill(Infinity);
  /** No cursor of steps is before this. */
  private nextStep: f64 = Infinity;

  constructor(
    rings: Cursor[],
    private readonly pairing: Pairing,
  ) {
    this.begin[CONTEXT_RING] = 0;
    for (let i = 0; i < rings.length; i++) {
      const cursor = rings[i];
      if (!cursor.toNextSegment()) continue;
      if (cursor.isSteps) this.steps.push(cursor);
      else this.others.push(cursor);
    }
    this.nextStep = this.earliestStep();
  }

  /** Pairs all records. */
  run(): void {
    while (this.others.length > 0) {
      const at = this.first();
      const cursor = this.others[at];
      const from = cursor.row;
      cursor.toRival(this.rivalOf(at));
      this.pairOthers(cursor, from, cursor.row);
      if (cursor.isAtEnd && !cursor.toNextSegment()) this.others.splice(at, 1);
    }
    this.pairSteps(Infinity);
  }

  /** The cursor that comes first. A file has at most 63 rings, most of them idle, so a search through all is faster than a heap. */
  private first(): i32 {
    const others = this.others;
    let first = 0;
    for (let i = 1; i < others.length; i++) if (others[i].isBefore(others[first])) first = i;
    return first;
  }

  /** The cursor that comes after the first one. */
  private rivalOf(first: i32): Cursor | null {
    const others = this.others;
    let rival: Cursor | null = null;
    for (let i = 0; i < others.length; i++)
      if (i != first && (rival === null || others[i].isBefore(rival))) rival = others[i];
    return rival;
  }

  /** Rows [from, end), and before each record that needs them the steps up to its tick. */
  private pairOthers(cursor: Cursor, from: i32, end: i32): void {
    const ring = cursor.ring;
    const records = cursor.reader.records;
    if (this.begin[ring] == Infinity) this.begin[ring] = records.position[from];
    let unpaired = from;
    for (let row = from; row < end; row++) {
      if (records.tickAt(row) < this.nextStep || !this.needsSteps(records, row)) continue;
      if (row > unpaired) this.pairing.read(ring, records, unpaired, row);
      unpaired = row;
      this.pairSteps(records.tickAt(row));
    }
    this.pairing.read(ring, records, unpaired, end);
  }

  private needsSteps(records: Records, row: i32): bool {
    if (unchecked(records.kind[row]) == Kind.Stop) return true;
    const handle = records.word1(row);
    if (handle >> 32 == 0) return false;
    return <f64>((handle >> 1) & 0xff_ffff_ffff) < this.begin[<i32>((handle >> 41) & 63)];
  }

  /** Steps up to a tick. */
  private pairSteps(until: f64): void {
    const steps = this.steps;
    for (let i = steps.length - 1; i >= 0; i--) {
      const cursor = steps[i];
      for (;;) {
        if (cursor.isAtEnd && !cursor.toNextSegment()) {
          steps.splice(i, 1);
          break;
        }
        if (!(cursor.tick <= until)) break;
        const from = cursor.row;
        cursor.toAfter(until);
        this.pairing.read(cursor.ring, cursor.reader.records, from, cursor.row);
      }
    }
    this.nextStep = this.earliestStep();
  }

  private earliestStep(): f64 {
    let least: f64 = Infinity;
    for (let i = 0; i < this.steps.length; i++) least = min(least, this.steps[i].tick);
    return least;
  }
}
