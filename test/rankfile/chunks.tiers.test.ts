/** Chunks: the reader takes the same from them, wherever their borders are. test/strangers has which positions they supply, and what is missing. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CHUNK_HEADER } from '../../src/rankfile/format/constants.js';
import { merge } from '../../src/merge.js';
import { mergedRows } from '../../src/rankfile/index.js';
import { memorySource } from '../../src/rankfile/byte_source.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import { streamSource } from '../../src/rankfile/rank_file_stream.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { history, type Storage, UNSPLIT } from '../support/made_up/streamed_run.js';
import { bareRecords, coverage, isSeamless, read, readBytes, resealChunk } from './read.js';
import { inTier } from '../support/tiers/tier.js';

/** A ring of 16 slots that was drained twice: [0, 10) and [10, 16); its head is at 20. */
function twoChunks(): RankFileBuilder {
  const file = new RankFileBuilder({ mode: 'stream' });
  const ring = file.ring('steps', 16);
  for (let i = 0; i < 20; i++) {
    if (i === 10 || i === 16) ring.drain();
    ring.stop(100 + i, 1n);
  }
  return file;
}

const gapsOf = (file: RankFile): string[] =>
  file.rings.flatMap(({ gaps }) => gaps.map(({ from, end, cause }) => `${cause} ${from}-${end}`));

describe('chunks', () => {
  it('with an unknown codec, or in an area that is not a ring, are left out and counted', () => {
    const changed = (field: keyof typeof CHUNK_HEADER, value: number): RankFile => {
      const builder = twoChunks();
      const bytes = builder.build();
      new DataView(bytes.buffer).setUint16(builder.chunkOffsets()[0]! + CHUNK_HEADER[field], value, true);
      resealChunk(bytes, builder.chunkOffsets()[0]!);
      return readBytes(bytes);
    };
    const codec = changed('codec', 7);
    expect(codec.problems).toEqual([{ what: 'chunks of unknown codec 7, left out', count: 1 }]);
    expect(gapsOf(codec)).toEqual(['torn 0-4']);
    const area = changed('area', 3);
    expect(area.problems).toEqual([{ what: 'chunks of areas that are no rings, skipped', count: 1 }]);
    expect(gapsOf(area)).toEqual(['overwritten 0-4']);
  });

  it('are not searched for longer than 1 GiB of zeros, and the report says so', () => {
    const file = new RankFileBuilder({ mode: 'stream' }).build();
    let reads = 0;
    const { problems } = parseRankFile({
      path: 'sparse.bin',
      bytes: 2 ** 52,
      read(offset, length) {
        reads++;
        const bytes = new Uint8Array(length);
        bytes.set(file.subarray(offset, offset + length));
        return bytes;
      },
    });
    expect(problems).toEqual([{ what: '1 GiB without a stream-mode chunk, not searched further', count: 1 }]);
    expect(reads).toBeLessThan(2 ** 18 + 50);
  });
});

describe('borders of chunks', () => {
  const storage: fc.Arbitrary<Storage> = fc.record({
    capacity: fc.constantFrom(64, 128),
    drains: fc.array(
      fc.record({ after: fc.integer({ min: 1, max: 3 }), ring: fc.nat(2), keep: fc.nat(20) }),
      { minLength: 1, maxLength: 8 },
    ),
    codec: fc.constantFrom('raw', 'zstd', 'zstdBare', 'zstdPlanes'),
    overlap: fc.nat(30),
  });
  const torn = fc.array(fc.nat(300), { maxLength: 3 });
  const OPERATIONS = 40;
  const RUNS = inTier({ first: 12, long: 1000 });

  it('make no difference to records, gaps, folds and their order', () => {
    fc.assert(
      fc.property(storage, torn, (storage, torn) => {
        const whole = read(history(OPERATIONS, UNSPLIT, torn));
        const bytes = history(OPERATIONS, storage, torn).build();
        const split = readBytes(bytes);
        expect(split.chunks.count).toBeGreaterThan(3);
        expect(bareRecords(split)).toEqual(bareRecords(whole));
        expect(split.rings.map(({ gaps }) => gaps)).toEqual(whole.rings.map(({ gaps }) => gaps));
        expect(split.rings.every((ring) => isSeamless(coverage(ring)))).toBe(true);
        expect(merged(streamSource(memorySource('rank.bin', bytes)))).toEqual(merged(whole));
      }),
      { numRuns: RUNS },
    );
  });

  it('make no difference to the trace, byte for byte', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'chunks-'));
    const trace = async (builder: RankFileBuilder): Promise<Buffer> => {
      const input = path.join(folder, 'rank00000.bin');
      const output = path.join(folder, 'out.pftrace');
      builder.write(input);
      await merge({ inputs: [input], output, jobs: 1, force: true });
      return readFileSync(output);
    };
    try {
      await fc.assert(
        fc.asyncProperty(storage, torn, async (storage, torn) => {
          const whole = await trace(history(OPERATIONS, UNSPLIT, torn));
          expect(whole.equals(await trace(history(OPERATIONS, storage, torn)))).toBe(true);
        }),
        { numRuns: RUNS / 4 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** "ring:position" in merged order. */
function merged(file: Parameters<typeof mergedRows>[0]): string[] {
  const order: string[] = [];
  for (const { ring, records, from, end } of mergedRows(file))
    for (let row = from; row < end; row++) order.push(`${ring}:${records.position[row]}`);
  return order;
}
