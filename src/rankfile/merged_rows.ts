/**
 * All records of a file in one order: by tick, then ring, then position. Rows of a ring keep their order, although ticks of a shared ring
 * may step back a little: a row counts as no earlier than the row before it.
 */

import type { RecordColumns, Ring, RowRange } from './file_types.js';

/** A ring that comes in segments; null after the last one. */
interface SegmentedRing {
  readonly ring: number;
  next(): RecordColumns | null;
}

interface Cursor {
  readonly source: SegmentedRing;
  records: RecordColumns;
  row: number;
  /** The tick used for the order of `row`. */
  tick: number;
}

/** A ring whose records come in segments, or all at once. */
export type AnyRing = SegmentedRing | Pick<Ring, 'ring' | 'records'>;

/** Ranges of consecutive rows of one ring, as long as they can be. A range ends with its segment; the order does not depend on segments. */
export function* mergedRows({ rings }: { readonly rings: readonly AnyRing[] }): Generator<RowRange> {
  const cursors = rings.flatMap(cursorOf);
  for (;;) {
    cursors.sort((a, b) => a.tick - b.tick || a.source.ring - b.source.ring);
    const [next, rival] = cursors;
    if (next === undefined) return;
    const { records, row: from } = next;
    advance(next, rival);
    yield { ring: next.source.ring, records, from, end: next.row };
    if (next.row === records.length && !toNextSegment(next)) cursors.shift();
  }
}

function cursorOf(ring: AnyRing): Cursor[] {
  const source = 'next' in ring ? ring : inOneSegment(ring);
  const records = source.next();
  return records === null ? [] : [{ source, records, row: 0, tick: records.tick[0]! }];
}

function inOneSegment({ ring, records }: Pick<Ring, 'ring' | 'records'>): SegmentedRing {
  const segments = records.length === 0 ? [] : [records];
  return { ring, next: () => segments.pop() ?? null };
}

/** Returns false if there is no further segment. */
function toNextSegment(cursor: Cursor): boolean {
  const records = cursor.source.next();
  if (records === null) return false;
  cursor.records = records;
  cursor.row = 0;
  cursor.tick = Math.max(cursor.tick, records.tick[0]!);
  return true;
}

/** Advances to the first row that is not before the rival's. */
function advance(cursor: Cursor, rival: Cursor | undefined): void {
  const { tick, length } = cursor.records;
  // Rows up to and including this tick come first; a tie goes to the lower ring.
  const last = rival === undefined ? Infinity : rival.tick;
  const tieIsOurs = rival === undefined || cursor.source.ring < rival.source.ring;
  do {
    cursor.row++;
    if (cursor.row === length) return;
    cursor.tick = Math.max(cursor.tick, tick[cursor.row]!);
  } while (cursor.tick < last || (cursor.tick === last && tieIsOurs));
}
