/**
 * All records of a file in the order in which they are paired. Records of steps (four of five) come in long runs of one ring: a step lies
 * in one ring, so its records need only that ring's order. Other records need steps in three cases. An operation's stop ends its steps.
 * Some events name a step as their parent. An operation whose start is not in the file is known only by its steps. So all other rings are
 * merged by tick, and the rings of steps follow up to the tick of such a record. Yields ranges like `mergedRows`.
 */

import { CONTEXT_RING, HANDLE_RING_MASK, Kind, MAX_RINGS } from './format/constants.js';
import {
  cursorOf,
  MergedRows,
  NO_MORE,
  toNextSegment,
  YieldedRange,
  type AnyRing,
  type Cursor,
} from './merged_rows.js';
import type { RecordColumns, RingClass, RowRange } from './types.js';

type ClassedRing = AnyRing & { readonly class: RingClass };

export const pairedRows = (rings: readonly ClassedRing[]): Iterable<RowRange> => new PairedRows(rings);

type Taken = IteratorResult<RowRange, undefined> | null;

/** Not a generator, for the same reason as MergedRows. */
class PairedRows implements IterableIterator<RowRange> {
  private readonly steps: Cursor[];
  private readonly others: MergedRows;
  /** By ring: the position of its first record. Infinity for rings of steps. */
  private readonly begin = new Float64Array(MAX_RINGS + 1).fill(Infinity);
  /** Steps are read up to this tick now, from the cursors at `cursor` and below. */
  private until = -Infinity;
  private cursor = -1;
  /** No cursor of steps is before this. */
  private nextStep: number;
  /** The rest of the newest range of other rings, and its first row that was not yet examined. */
  private ring = 0;
  private records: RecordColumns | undefined;
  private from = 0;
  private end = 0;
  private unseen = 0;
  private readonly range = new YieldedRange();

  constructor(rings: readonly ClassedRing[]) {
    this.begin[CONTEXT_RING] = 0;
    this.steps = rings.filter((ring) => ring.class === 'steps').flatMap(cursorOf);
    this.others = new MergedRows(rings.filter((ring) => ring.class !== 'steps').flatMap(cursorOf));
    this.nextStep = earliest(this.steps);
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<RowRange, undefined> {
    for (;;) {
      const range = this.takeSteps() ?? this.takeOthers();
      if (range) return range;
      if (this.cursor < 0 && this.from === this.end && !this.toNextRange()) return NO_MORE;
    }
  }

  /** Ranges of steps. Removes cursors that are at their ends. */
  private takeSteps(): Taken {
    if (this.cursor < 0) return null;
    const { steps, until } = this;
    for (; this.cursor >= 0; this.cursor--) {
      const cursor = steps[this.cursor]!;
      if (cursor.row === cursor.records.length && !toNextSegment(cursor)) steps.splice(this.cursor, 1);
      else if (cursor.tick <= until) {
        const from = cursor.row;
        advance(cursor, until);
        return this.range.of(cursor.ring, cursor.records, from, cursor.row);
      }
    }
    this.nextStep = earliest(steps);
    return null;
  }

  /** Ranges of other rings, up to a record that needs steps. */
  private takeOthers(): Taken {
    const { ring, records, from, end, begin, nextStep } = this;
    if (from === end) return null;
    const { tick } = records!;
    let row = this.unseen;
    while (row < end && (tick[row]! < nextStep || !needsSteps(records!, row, begin))) row++;
    this.from = row;
    this.unseen = row + 1;
    if (row < end) this.wantSteps(tick[row]!);
    return row > from ? this.range.of(ring, records!, from, row) : null;
  }

  /** Returns false when everything has been read. */
  private toNextRange(): boolean {
    const { done, value } = this.others.next();
    if (done) {
      if (this.steps.length === 0) return false;
      this.wantSteps(Infinity);
      return true;
    }
    this.ring = value.ring;
    this.records = value.records;
    this.from = this.unseen = value.from;
    this.end = value.end;
    if (this.begin[value.ring] === Infinity) this.begin[value.ring] = value.records.position[value.from]!;
    return true;
  }

  private wantSteps(until: number): void {
    this.until = until;
    this.cursor = this.steps.length - 1;
  }
}

function earliest(cursors: readonly Cursor[]): number {
  let least = Infinity;
  for (const { tick } of cursors) if (tick < least) least = tick;
  return least;
}

function needsSteps({ kind, word1Low, word1High }: RecordColumns, row: number, begin: Float64Array): boolean {
  if (kind[row] === Kind.Stop) return true;
  const high = word1High[row]!;
  const position = (high & 0x1ff) * 2 ** 31 + (word1Low[row]! >>> 1);
  return high !== 0 && position < begin[(high >>> 9) & HANDLE_RING_MASK]!;
}

/** Moves to the first row after this tick, or to the end of the segment. */
function advance(cursor: Cursor, last: number): void {
  const { tick, length } = cursor.records;
  let { row, tick: now } = cursor;
  while (now <= last && ++row < length) now = Math.max(now, tick[row]!);
  cursor.row = row;
  cursor.tick = now;
}
