/**
 * All records of a file in one order: by tick, then ring, then position. Rows of a ring keep their order, although ticks of a shared ring
 * may step back a little: a row counts as no earlier than the row before it. Yields ranges of consecutive rows of one ring. A range ends
 * with its segment, and the order does not depend on the segments. It yields the *same* object every time, so use or copy the object before
 * the next step.
 */

import type { RecordColumns, Ring, RowRange } from './types.js';

/** A ring that comes in segments; null after the last one. */
interface SegmentedRing {
  readonly ring: number;
  next(): RecordColumns | null;
}

export interface Cursor {
  readonly source: SegmentedRing;
  readonly ring: number;
  records: RecordColumns;
  row: number;
  /** The tick used for the order of `row`. */
  tick: number;
}

/** A ring whose records come in segments, or all at once. */
export type AnyRing = SegmentedRing | Pick<Ring, 'ring' | 'records'>;

export const mergedRows = (file: { readonly rings: readonly AnyRing[] }): Iterable<RowRange> =>
  new MergedRows(file.rings.flatMap(cursorOf));

/** The result of an iterator at its end. */
export const NO_MORE: IteratorResult<never, undefined> = { done: true, value: undefined };

/** The same object each time. */
export class YieldedRange {
  private result: { readonly done: false; readonly value: RowRange } | undefined;

  of(ring: number, records: RecordColumns, from: number, end: number): IteratorResult<RowRange, undefined> {
    if (!this.result) return (this.result = { done: false, value: { ring, records, from, end } });
    const { value } = this.result;
    value.ring = ring;
    value.records = records;
    value.from = from;
    value.end = end;
    return this.result;
  }
}

/** Not a generator, because a generator makes two objects for each range, and most ranges have few rows. */
export class MergedRows implements IterableIterator<RowRange> {
  /** The cursor that the newest range came from, and the next one after it. */
  private cursor: Cursor | undefined;
  private rival: Cursor | undefined;
  private readonly range = new YieldedRange();

  constructor(private readonly cursors: Cursor[]) {}

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<RowRange, undefined> {
    const before = this.cursor;
    if (before && before.row === before.records.length && !toNextSegment(before))
      this.cursors.splice(this.cursors.indexOf(before), 1);
    if (this.cursors.length === 0) return NO_MORE;
    const next = this.choose();
    const from = next.row;
    advance(next, this.rival);
    return this.range.of(next.ring, next.records, from, next.row);
  }

  /**
   * Finds the two cursors that come first. A file has at most 63 rings, most of them idle, so a search through all is faster than a heap.
   */
  private choose(): Cursor {
    const { cursors } = this;
    let next = cursors[0]!;
    let rival: Cursor | undefined;
    for (let i = 1; i < cursors.length; i++) {
      const cursor = cursors[i]!;
      if (isBefore(cursor, next)) {
        rival = next;
        next = cursor;
      } else if (rival === undefined || isBefore(cursor, rival)) rival = cursor;
    }
    this.cursor = next;
    this.rival = rival;
    return next;
  }
}

export function cursorOf(ring: AnyRing): Cursor[] {
  const source = 'next' in ring ? ring : inOneSegment(ring);
  const records = source.next();
  return records === null ? [] : [{ source, ring: source.ring, records, row: 0, tick: records.tick[0]! }];
}

function inOneSegment({ ring, records }: Pick<Ring, 'ring' | 'records'>): SegmentedRing {
  let rest: RecordColumns | null = records.length === 0 ? null : records;
  return {
    ring,
    next: () => {
      const records = rest;
      rest = null;
      return records;
    },
  };
}

/** Returns false if there is no further segment. */
export function toNextSegment(cursor: Cursor): boolean {
  const records = cursor.source.next();
  if (records === null) return false;
  cursor.records = records;
  cursor.row = 0;
  cursor.tick = Math.max(cursor.tick, records.tick[0]!);
  return true;
}

const isBefore = (a: Cursor, b: Cursor): boolean => a.tick < b.tick || (a.tick === b.tick && a.ring < b.ring);

/** Advances to the first row that is not before the rival's. */
function advance(cursor: Cursor, rival: Cursor | undefined): void {
  const { tick, length } = cursor.records;
  if (rival === undefined) {
    cursor.row = length;
    return;
  }
  // Rows up to and including this tick come first; a tie goes to the lower ring.
  const last = rival.tick;
  const tieIsOurs = cursor.ring < rival.ring;
  let row = cursor.row;
  let now = cursor.tick;
  do {
    row++;
    if (row === length) break;
    now = Math.max(now, tick[row]!);
  } while (now < last || (now === last && tieIsOurs));
  cursor.row = row;
  cursor.tick = now;
}
