/** What is reported about records of a ring. Which ones are read, and what is missing, is held against a stranger's reader (test/strangers). */

import { describe, expect, it } from 'vitest';

import { Kind } from '../../src/rankfile/format/constants.js';
import { SEGMENT_SLOTS } from '../../src/rankfile/ring_stream.js';
import type { Ring } from '../../src/rankfile/file_types.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { coverage, isSeamless, read } from './read.js';

const only = (file: RankFileBuilder): Ring => {
  const [ring] = read(file).rings;
  expect(ring).toBeDefined();
  expect(isSeamless(coverage(ring!))).toBe(true);
  return ring!;
};

const positions = (ring: Ring): number[] => [...ring.records.position];

function ringOf(capacity: number) {
  const file = new RankFileBuilder();
  return { file, ring: file.ring('host', capacity) };
}

describe('a ring', () => {
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
