/** Both readers on chunks (agreement.ts): which positions they have, which are missing, and why. */

import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  CHUNK_HEADER,
  CHUNK_HEADER_BYTES,
  CHUNK_MAGIC,
  FILE_HEADER,
} from '../../src/rankfile/format/constants.js';
import { crc32 } from '../../src/rankfile/format/crc32.js';
import { RankFileBuilder, type ChunkCodec } from '../support/rank_files/rank_file_builder.js';
import { agreed, agreedFacts, smallFile, withNumbers, slotsOffset, upTo } from './agreement.js';
import type { RankFileFacts } from './facts.js';
import { inTier } from '../support/tiers/tier.js';

const hasZstd = spawnSync('zstd', ['--version']).status === 0;

/** The file with an empty chunk behind it, behind a hole if you like. */
function withChunk(file: Uint8Array, hole = 0): Uint8Array {
  const header = new Uint8Array(CHUNK_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint32(CHUNK_HEADER.magic, CHUNK_MAGIC, true);
  view.setUint32(CHUNK_HEADER.headerCrc, crc32(header), true);
  return Buffer.concat([file, new Uint8Array(hole), header]);
}

/** Corrects the checks of the chunk whose header is at `at`, as far as its sizes allow. */
function sealChunk(file: Uint8Array, at: number): void {
  const view = new DataView(file.buffer, at);
  const payload = file
    .subarray(at + CHUNK_HEADER_BYTES)
    .subarray(0, view.getUint32(CHUNK_HEADER.storedBytes, true));
  view.setUint32(CHUNK_HEADER.payloadCrc, crc32(payload), true);
  view.setUint32(CHUNK_HEADER.headerCrc, 0, true);
  view.setUint32(CHUNK_HEADER.headerCrc, crc32(file.subarray(at, at + CHUNK_HEADER_BYTES)), true);
}

/** Changes the chunk's header: its slots are said to be at other positions. */
function shiftChunk(file: Uint8Array, at: number, by: number): void {
  const view = new DataView(file.buffer, at);
  for (const field of [CHUNK_HEADER.firstPosition, CHUNK_HEADER.endPosition])
    view.setBigUint64(field, BigInt.asUintN(64, view.getBigUint64(field, true) + BigInt(by)), true);
  sealChunk(file, at);
}

/** A ring of 64 slots that the recorder drains after each so many records. */
function streamed(pauses: readonly number[], codec: ChunkCodec = 'raw', capacity = 64): RankFileBuilder {
  const file = new RankFileBuilder({ mode: 'stream' });
  const [steps, host] = [file.ring('steps', capacity), file.ring('host', capacity)];
  let tick = 100;
  for (const pause of pauses) {
    for (let i = 0; i < pause; i++, tick += 10) {
      if (i % 3 === 0) steps.stop(tick, 1n);
      else steps.startKernelCh(tick, { channel: i % 8 });
      if (i % 40 === 0) host.startColl(tick, { seqNumber: i });
      if (capacity - (steps.head - steps.drainedTo) < 10 && pause <= capacity) steps.drain({ codec });
    }
    steps.drain({ from: Math.max(steps.drainedTo, steps.head - capacity), codec });
    if (pause % 2 === 0 && host.head > host.drainedTo) host.drain({ codec });
  }
  for (let i = 0; i < 5; i++) steps.stop(tick + i, 1n);
  return file;
}

/** The example of schemas/rank-file.md. */
function workedExample(): Uint8Array {
  const file = new RankFileBuilder({ mode: 'stream' });
  const ring = file.ring('steps', 8);
  const upToPosition = (head: number): void => {
    while (ring.head < head) ring.stop(100 + ring.head, 1n);
  };
  for (const [from, to] of [
    [0, 2],
    [2, 6],
    [6, 10],
    [10, 15],
    [15, 20],
    [24, 30],
  ] as const) {
    upToPosition(to);
    if (from === 24) ring.tear(27);
    ring.drain({ from, to });
  }
  upToPosition(40);
  const bytes = file.dropChunks(3).build();
  bytes[file.chunkOffsets()[4]! + 64]! ^= 1;
  return bytes;
}

describe("a stranger's reader agrees with ours on chunks", () => {
  it('where chunks are', () => {
    const whole = smallFile().build();
    const end = BigInt(whole.length);
    const found = (...files: Uint8Array[]): number[] =>
      agreedFacts(...files).map(({ chunks }) => chunks.count);
    expect(found(whole, withChunk(whole), withChunk(whole, 8192), withChunk(whole, 100))).toEqual([
      0, 1, 1, 0,
    ]);
    const chunk = withChunk(whole, 4096);
    const begins = [0n, 1n, 4096n, end + 4096n, end + 64n, end + 2n ** 40n];
    expect(found(...begins.map((at) => withNumbers(chunk, [FILE_HEADER.chunksBegin, at])))).toEqual(
      begins.map(() => 1),
    );
    const none = withNumbers(chunk, [FILE_HEADER.chunksOffset, 0n], [FILE_HEADER.chunksBegin, end + 4096n]);
    expect(found(none)).toEqual([0]);
  });

  it('the worked example of chunks', () => {
    const [facts] = agreedFacts(workedExample());
    expect(facts?.records).toHaveLength(5 + 5 + 8);
    expect(facts?.rings[0]?.missing).toEqual({ overwritten: 4 + 2, dropped: 10, torn: 5 + 1, copy: 0 });
  });

  it('a drained ring, wherever the borders of its chunks lie', () => {
    const histories = fc.sample(fc.array(fc.nat(40), { minLength: 3, maxLength: 30 }), {
      seed: 31,
      numRuns: 30,
    });
    const files = histories.map((pauses) => streamed(pauses).build());
    for (const { rings } of agreedFacts(...files))
      for (const { missing } of rings)
        expect(missing).toEqual({ overwritten: 0, dropped: 0, torn: 0, copy: 0 });
  });

  it('a newer lap of chunks before the older one', () => {
    const history = upTo(12).map((i) => (i % 5 === 0 ? 90 : 11));
    const kept = upTo(12)
      .flatMap((keep) => upTo(keep).map((newest) => ({ keep, newest })))
      .filter((_, i) => i % 3 === 0);
    const wrapped = kept.map(({ keep, newest }) =>
      streamed(history).dropChunks(keep).wrapChunks(newest).build(),
    );
    const straight = kept.map(({ keep }) => streamed(history).dropChunks(keep).build());
    const held = ({ records, rings, chunks }: RankFileFacts) => ({ records, rings, chunks });
    expect(agreedFacts(...wrapped).map(held)).toEqual(agreedFacts(...straight).map(held));
  });

  it('a recorder that came too late, and the disk limit', () => {
    const files = upTo(12).map((keep) => {
      const file = streamed(upTo(12).map((i) => (i % 5 === 0 ? 90 : 11)));
      return file.dropChunks(keep).build();
    });
    const missing = agreedFacts(...files).map(({ rings }) => rings[0]!.missing);
    expect(missing.filter(({ overwritten }) => overwritten > 0).length).toBeGreaterThan(5);
    expect(missing.filter(({ dropped }) => dropped > 0).length).toBeGreaterThan(5);
    expect(missing.every(({ torn, copy }) => torn + copy === 0)).toBe(true);
  });

  it('damaged chunks', () => {
    const whole = streamed([30, 25, 40, 3, 60, 31, 20, 9], 'raw');
    const bytes = whole.build();
    const at = whole.chunkOffsets();
    const { area, codec, firstPosition, endPosition, sequence, rawBytes, storedBytes } = CHUNK_HEADER;
    const fields = [area, codec, firstPosition, endPosition, sequence, rawBytes, storedBytes];
    const chunk = fc.nat(at.length - 1);
    const byte = fc.record({ chunk, offset: fc.nat(2000), to: fc.nat(255), sealed: fc.boolean() });
    const number = fc.record({
      chunk,
      offset: fc.constantFrom(...fields),
      to: fc.nat(9),
      sealed: fc.constant(true),
    });
    const shift = fc.record({ chunk, by: fc.integer({ min: -40, max: 40 }) });
    const damages = fc.sample(fc.array(fc.oneof(byte, number, shift), { minLength: 1, maxLength: 4 }), {
      seed: 32,
      numRuns: inTier({ first: 15, long: 1000 }),
    });
    const files = damages.map((changes) => {
      const damaged = bytes.slice();
      for (const change of changes) {
        const header = at[change.chunk]!;
        if ('by' in change) shiftChunk(damaged, header, change.by);
        else if (header + change.offset < damaged.length) {
          damaged[header + change.offset] = change.to;
          if (change.sealed) sealChunk(damaged, header);
        }
      }
      return damaged;
    });
    const facts = agreedFacts(...files);
    expect(facts.some(({ badChunks }) => badChunks[0] > 0)).toBe(true);
    expect(facts.some(({ badChunks }) => badChunks[1] > 0)).toBe(true);
    expect(facts.some(({ badChunks }) => badChunks[2] > 0)).toBe(true);
    expect(facts.some(({ chunks }) => chunks.ofNoRing > 0)).toBe(true);
    expect(facts.some(({ chunks }) => chunks.missing > 0)).toBe(true);
  });

  it('chunks before an older, a newer and a damaged ring', () => {
    const file = streamed([20, 30, 25, 40]);
    const newer = file.build();
    const older = streamed([20, 30]).build();
    const from = slotsOffset(newer, 0);
    const ringBytes = 64 * 32;
    const rings = [older.subarray(from, from + ringBytes), new Uint8Array(ringBytes)];
    const torn = newer.slice(from, from + ringBytes);
    for (let i = 5; i < torn.length; i += 77) torn[i]! ^= 1;
    const files = [...rings, torn].map((ring) => {
      const bytes = newer.slice();
      bytes.set(ring, from);
      return bytes;
    });
    agreed(...files);
  });

  it.skipIf(!hasZstd).each(['zstd', 'zstdBare', 'zstdPlanes'] as const)(
    'compressed chunks (%s), whole and damaged',
    (codec) => {
      const file = streamed([200, 150, 3, 250], codec, 256);
      const bytes = file.build();
      const [first = 0] = file.chunkOffsets();
      const frame = first + 64;
      const changes: [at: number, to: number][] = [
        [frame, 0],
        [frame + 4, 0x21],
        [frame + 4, 0xe0],
        [frame + 5, 0xff],
        [frame + 6, 7],
        [frame + 7, 0xff],
      ];
      const damaged = changes.map(([at, to]) => {
        const copy = bytes.slice();
        copy[at] = to;
        sealChunk(copy, first);
        return copy;
      });
      const [facts, ...others] = agreedFacts(bytes, ...damaged);
      expect(facts?.badChunks).toEqual([0, 0, 0]);
      expect(facts?.chunks.compressed).toBe(facts?.chunks.count);
      expect(facts?.records.length).toBeGreaterThan(500);
      expect(others.map(({ badChunks }) => badChunks[1])).toEqual(changes.map(() => 1));
    },
  );
});
