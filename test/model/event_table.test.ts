/** Events that later records may refer to are kept. Events that ended long ago are not, however few positions begin one. */

import { expect, it } from 'vitest';
import { EventTable, type Event } from '../../src/model/event_table.js';
import { startKey } from '../../src/model/record_fields.js';

const RING = 3;
/** As many positions as a table of calls has places. */
const KEPT = 1 << 16;
/** Positions between two calls. */
const STRIDE = 17;

const call = (stop: number | null): Event => ({ type: 'host', stop, graphCaptured: false }) as Event;

it('keeps the calls of the last 65,536 positions, and older ones that are open', () => {
  const chunks = { count: 100, from: 0, end: 20 * KEPT };
  const table = new EventTable([{ ring: RING, class: 'host', capacity: 1024, chunks }]);
  const position = (i: number): number => i * STRIDE;
  const last = Math.floor((10 * KEPT) / STRIDE);
  for (let i = 0; i <= last; i++) table.set(startKey(RING, position(i)), call(i === 1 ? null : 1));
  const found = (i: number): boolean => table.get(startKey(RING, position(i))) !== undefined;
  const kept = Array.from({ length: last + 1 }, (_, i) => i).filter(found);
  const firstKept = kept.find((i) => i > 1)!;
  expect(kept.slice(0, 2)).toEqual([1, firstKept]);
  expect(kept).toHaveLength(last - firstKept + 2);
  expect(position(last) - position(firstKept)).toBeLessThan(KEPT);
  expect(position(last) - position(firstKept - 1)).toBeGreaterThanOrEqual(KEPT);
});

it('forgets an operation that stayed open for longer than its places reach, but only some time after it stopped', () => {
  const table = new EventTable([{ ring: RING, class: 'ops', capacity: 1 << 20, chunks: null }]);
  const OPEN = 5000;
  const COUNT = 100_000;
  const ops: { type: 'op'; stop: number | null; isEndless: boolean }[] = [];
  const isFound = (i: number): boolean => table.get(startKey(RING, i)) !== undefined;
  for (let i = 0; i < COUNT; i++) {
    ops.push({ type: 'op', stop: null, isEndless: false });
    table.set(startKey(RING, i), ops[i] as unknown as Event);
    if (i % 1000 === 0 && i >= OPEN) expect(isFound(i - OPEN)).toBe(true);
    if (i >= OPEN) ops[i - OPEN]!.stop = 1;
    if (i % 1000 === 0 && i >= OPEN + 1000) expect(isFound(i - OPEN - 1000)).toBe(true);
  }
  const found = ops.map((_, i) => i).filter(isFound);
  expect(found.filter((i) => ops[i]!.stop === null)).toHaveLength(OPEN);
  expect(found.length).toBeLessThan(4 * OPEN);
});
