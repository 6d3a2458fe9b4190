/**
 * All records of a file in the order in which they are paired: those of steps, four of five, in long runs of one ring. A step lies in one
 * ring, so its records only need the order of that ring. Others need steps in three cases: an operation's stop ends them, some events
 * name one as their parent, and an operation whose start is not in the file is known only by its steps. So all rings but those of steps are
 * merged by tick, and the rings of steps follow up to the tick of such a record. Yields ranges as `mergedRows` does.
 */

import { CONTEXT_RING, HANDLE_RING_MASK, Kind, MAX_RINGS } from './format/constants.js';
import { cursorOf, mergedRows, toNextSegment, type AnyRing, type Cursor } from './merged_rows.js';
import type { RecordColumns, RingClass, RowRange } from './types.js';

export function* pairedRows(
  rings: readonly (AnyRing & { readonly class: RingClass })[],
): Generator<RowRange, void, undefined> {
  const begin = new Float64Array(MAX_RINGS + 1).fill(Infinity);
  begin[CONTEXT_RING] = 0;
  const steps = rings.filter((ring) => ring.class === 'steps').flatMap(cursorOf);
  for (const range of mergedRows({ rings: rings.filter((ring) => ring.class !== 'steps') })) {
    const { ring, records, end } = range;
    if (begin[ring] === Infinity) begin[ring] = records.position[range.from]!;
    for (let row = range.from; steps.length > 0 && row < end; row++) {
      if (!needsSteps(records, row, begin)) continue;
      range.end = row;
      if (row > range.from) yield range;
      range.from = row;
      yield* stepsUntil(steps, records.tick[row]!);
    }
    range.end = end;
    yield range;
  }
  yield* stepsUntil(steps, Infinity);
}

/** `begin`: the position of the first record by ring; of rings of steps none. */
function needsSteps({ kind, word1Low, word1High }: RecordColumns, row: number, begin: Float64Array): boolean {
  if (kind[row] === Kind.Stop) return true;
  const high = word1High[row]!;
  const position = (high & 0x1ff) * 2 ** 31 + (word1Low[row]! >>> 1);
  return high !== 0 && position < begin[(high >>> 9) & HANDLE_RING_MASK]!;
}

/** Removes cursors that are through. */
function* stepsUntil(steps: Cursor[], last: number): Generator<RowRange, void, undefined> {
  for (let i = steps.length - 1; i >= 0; i--) {
    const cursor = steps[i]!;
    while (cursor.tick <= last) {
      const { ring, records, row: from } = cursor;
      advance(cursor, last);
      yield { ring, records, from, end: cursor.row };
      if (cursor.row < records.length || toNextSegment(cursor)) continue;
      steps.splice(i, 1);
      break;
    }
  }
}

/** To the first row after that tick, or the segment's end. */
function advance(cursor: Cursor, last: number): void {
  const { tick, length } = cursor.records;
  let { row, tick: now } = cursor;
  while (now <= last && ++row < length) now = Math.max(now, tick[row]!);
  cursor.row = row;
  cursor.tick = now;
}
