/**
 * Which records of a ring are read, and what is reported about the others. The comment above a test shows the ring: one cell
 * per index, with the position in that slot. `x` is torn, `.` is empty.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Kind } from '../../src/rankfile/format/constants.js';
import { SEGMENT_SLOTS } from '../../src/rankfile/ring_stream.js';
import type { Ring } from '../../src/rankfile/file_types.js';
import type { RingBuilder } from '../support/rank_files/ring_builder.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { bareRecords, coverage, isSeamless, read, readBytes } from './read.js';

const only = (file: RankFileBuilder): Ring => {
  const [ring] = read(file).rings;
  expect(ring).toBeDefined();
  expect(isSeamless(coverage(ring!))).toBe(true);
  return ring!;
};

const positions = (ring: Ring): number[] => [...ring.records.position];
const gaps = (ring: Ring): string[] => ring.gaps.map(({ from, end, cause }) => `${from}-${end} ${cause}`);

function stops(ring: RingBuilder, count: number): void {
  for (let i = 0; i < count; i++) ring.stop(ring.head * 10, 0n);
}

function ringOf(capacity: number, startAt = 0): { file: RankFileBuilder; ring: RingBuilder } {
  const file = new RankFileBuilder();
  return { file, ring: file.ring('host', capacity, { startAt }) };
}

describe('a ring', () => {
  // 0 1 2 . . . . .
  it('that is not full has lost nothing', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 3);
    expect(positions(only(file))).toEqual([0, 1, 2]);
    expect(only(file)).toMatchObject({ gaps: [], tornSlots: 0, head: 3 });
  });

  // 8 9 10 3 4 5 6 7
  it('that has wrapped has lost all records older than a lap', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 11);
    const result = only(file);
    expect(positions(result)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(result.gaps).toEqual([{ from: 0, end: 3, cause: 'overwritten', afterTick: null, beforeTick: 30 }]);
  });

  // 16 17 10 11 (12 13 14 15): a record of four parts, its first ones overwritten
  it('drops the oldest record when the newest has cut it', () => {
    const { file, ring } = ringOf(8, 9);
    ring.startColl(90);
    stops(ring, 2);
    ring.startKernelCh(150);
    stops(ring, 2);
    expect(positions(only(file))).toEqual([13, 14, 15, 17, 18]);
    expect(gaps(only(file))).toEqual(['0-13 overwritten']);
  });

  // 8 9 | 6 7: one record over the end of the ring
  it('holds records that run over its end', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 6);
    ring.startColl(60, { seqNumber: 5 });
    const result = only(file);
    expect(positions(result)).toEqual([2, 3, 4, 5, 6]);
    expect(result.records.extra[0]).toBe(5);
    expect([...result.records.extraStart]).toEqual([0, 0, 0, 0, 0, 18]);
  });

  it('of several segments is read like a short one, also where a record lies in two segments', () => {
    const { file, ring } = ringOf(4 * SEGMENT_SLOTS);
    const first: number[] = [];
    while (ring.head < 3 * SEGMENT_SLOTS) {
      first.push(ring.head);
      ring.startColl(ring.head, { seqNumber: ring.head });
      if (ring.head % 3 === 0) {
        first.push(ring.head);
        ring.stop(ring.head, 0n);
      }
    }
    expect(first.some((at, i) => at < SEGMENT_SLOTS && first[i + 1]! > SEGMENT_SLOTS)).toBe(true);
    const { records, gaps } = only(file);
    expect(gaps).toEqual([]);
    expect([...records.position]).toEqual(first);
    expect([...records.tick]).toEqual(first);
    const sequences = first.flatMap((_, row) =>
      records.kind[row] === Kind.StartColl ? [records.extra[records.extraStart[row]!]] : [],
    );
    expect(sequences).toEqual(first.filter((_, row) => records.kind[row] === Kind.StartColl));
  });

  // 0 x 2 3 . . . .
  it('has a gap where a slot is torn', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 4);
    ring.tear(1);
    expect(only(file).gaps).toEqual([{ from: 1, end: 2, cause: 'torn', afterTick: 0, beforeTick: 20 }]);
    expect(only(file).tornSlots).toBe(1);
  });

  // 0 (1 2 x 4) 5: the whole record is dropped, with its valid parts
  it('drops a record with a torn part', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 1);
    ring.startColl(10);
    stops(ring, 1);
    ring.tear(3);
    expect(positions(only(file))).toEqual([0, 5]);
    expect(gaps(only(file))).toEqual(['1-5 torn']);
  });

  // 0 (1 2 . .): killed in the middle
  it('drops a record that was never finished', () => {
    const { file, ring } = ringOf(8);
    stops(ring, 1);
    ring.startColl(10);
    for (const position of [3, 4]) for (let word = 0; word < 4; word++) ring.tear(position, word, 0n);
    ring.staleHead(4);
    expect(positions(only(file))).toEqual([0]);
    expect(gaps(only(file))).toEqual(['1-3 torn']);
    expect(only(file).tornSlots).toBe(0);
  });

  it('checks all of a slot: any flipped bit makes it torn', () => {
    for (let bit = 0; bit < 256; bit++) {
      const { file, ring } = ringOf(4);
      ring.state(7, ring.handleAt(0), 9, 1234);
      const bytes = file.build();
      const slots = Number(new DataView(bytes.buffer).getBigUint64(4096 + 24, true));
      const word = new DataView(bytes.buffer).getBigUint64(slots + Math.floor(bit / 64) * 8, true);
      ring.tear(0, Math.floor(bit / 64), word ^ (1n << BigInt(bit % 64)));
      expect(positions(only(file))).toEqual([]);
      expect(only(file).tornSlots).toBe(1);
    }
  });

  it('does not join parts of different records', () => {
    const { file, ring } = ringOf(8);
    ring.area.write(0, Kind.StartKernelCh, [file.rawTick(1), 0n, 0n, 1n, 0n, 0n]);
    ring.area.write(1, Kind.StartKernelLaunch, [file.rawTick(2), 0n, 0n, 2n, 0n, 0n]);
    expect(positions(only(file))).toEqual([1]);
    expect(gaps(only(file))).toEqual(['0-1 torn']);
  });

  it('drops records with fewer parts than their kind needs, and accepts more parts', () => {
    const { file, ring } = ringOf(8);
    ring.record(Kind.StartKernelCh, 1, 0n, 0n);
    ring.record(Kind.Stop, 2, 0n, 0n, 7n, 7n, 7n);
    expect(positions(only(file))).toEqual([1]);
    expect(read(file).problems).toEqual([{ what: 'records shorter than their kind, skipped', count: 1 }]);
  });

  it('counts ticks before the start of the file', () => {
    const { file, ring } = ringOf(8);
    ring.stop(-5, 0n);
    expect(only(file).records.tick[0]).toBe(0);
    expect(read(file).problems).toEqual([{ what: 'records older than the start of the file', count: 1 }]);
  });
});

describe('a copy of a live ring', () => {
  // The copy goes slot by slot from the front while the producer writes. Each slot shows the moment when it was copied.
  function copyWhileWriting(
    capacity: number,
    head: number,
    perSlot: number,
  ): { ring: Ring; written: Set<string> } {
    const { file, ring } = ringOf(capacity);
    let random = 1;
    const write = (): void => {
      random = (random * 48271) % 2147483647;
      if (random % 5 === 0) ring.startColl(ring.head * 10, { seqNumber: ring.head });
      else if (random % 3 === 0) ring.startKernelCh(ring.head * 10, { pTimer: BigInt(ring.head) });
      else ring.stop(ring.head * 10, ring.handleAt(ring.head));
    };
    const written = new Set<string>();
    const note = (): void => {
      for (const record of bareRecords(read(file))) written.add(record);
    };
    while (ring.head < head) write();
    note();
    const copy = file.build();
    const slots = Number(new DataView(copy.buffer).getBigUint64(4096 + 24, true));
    let due = 0;
    for (let index = 0; index < capacity; index++) {
      for (due += perSlot; due >= 1; due--) {
        write();
        note();
      }
      const now = file.build();
      copy.set(now.subarray(slots + index * 32, slots + index * 32 + 32), slots + index * 32);
    }
    return { ring: readCopy(copy), written };
  }

  it('returns only records that were written, and reports the gaps', () => {
    for (const perSlot of [0, 0.1, 0.5, 0.9, 1, 1.1, 2, 3.7])
      for (const head of [0, 10, 40, 64, 100, 130]) {
        const { ring, written } = copyWhileWriting(32, head, perSlot);
        expect(isSeamless(coverage(ring))).toBe(true);
        for (const record of bareRecords({ rings: [ring] })) expect(written).toContain(record);
        expect(ring.tornSlots).toBe(0);
      }
  });
});

function readCopy(bytes: Uint8Array): Ring {
  const [ring] = readBytes(bytes).rings;
  return ring!;
}

describe('any ring', () => {
  it('with any slots torn: every record is one that was written, and all positions are accounted for', () => {
    const scene = fc.record({
      capacity: fc.constantFrom(1, 2, 4, 16, 32),
      start: fc.constantFrom(0, 5, 2 ** 24 - 20, 2 ** 33),
      kinds: fc.array(fc.constantFrom('stop', 'coll', 'kernel', 'p2p'), { maxLength: 60 }),
      tears: fc.array(
        fc.record({ back: fc.nat(40), word: fc.nat(3), value: fc.bigInt(0n, 2n ** 64n - 1n) }),
        {
          maxLength: 8,
        },
      ),
      stale: fc.nat(200),
    });
    fc.assert(
      fc.property(scene, ({ capacity, start, kinds, tears, stale }) => {
        const { file, ring } = ringOf(capacity, start);
        const written = new Set<string>();
        for (const kind of kinds) {
          const position = ring.head;
          if (kind === 'stop') ring.stop(position % 1000, ring.handleAt(position));
          else if (kind === 'coll') ring.startColl(position % 1000, { seqNumber: position });
          else if (kind === 'kernel') ring.startKernelCh(position % 1000, { pTimer: BigInt(position) });
          else ring.startP2p(position % 1000, { peer: position % 100 });
          for (const record of bareRecords(read(file))) written.add(record);
        }
        for (const { back, word, value } of tears)
          if (back < ring.head) ring.tear(ring.head - 1 - back, word, value);
        ring.staleHead(stale);
        const result = read(file);
        for (const record of bareRecords(result)) expect(written).toContain(record);
        expect(isSeamless(coverage(result.rings[0]!))).toBe(true);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
