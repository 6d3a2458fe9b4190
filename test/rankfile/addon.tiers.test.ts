/**
 * The addon reads the same as the TypeScript reader, column for column: every sample, streamed histories, and files with
 * random damage. Without a C++ compiler there is no addon, and nothing to compare.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { compressFrame } from '../../src/rankfile/zstd.js';
import { memorySource } from '../../src/rankfile/byte_source.js';
import { typescriptDecoder, type Decoder } from '../../src/rankfile/decoder.js';
import { isOurs } from '../../src/rankfile/addon.js';
import { nativeDecoder } from '../../src/rankfile/native_decoder.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import type { RankFile } from '../../src/rankfile/types.js';
import { history, type Storage } from '../support/made_up/streamed_run.js';
import { inTier } from '../support/tiers/tier.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const addon = nativeDecoder(typescriptDecoder);
const RUNS = inTier({ first: 8, ci: 25, long: 3000 });
// The long form takes minutes.
vi.setConfig({ testTimeout: 1_200_000 });

/** The file, or the error message. */
function read(bytes: Uint8Array, decoder: Decoder): RankFile | string {
  try {
    return parseRankFile(memorySource('rank.bin', bytes), decoder);
  } catch (error) {
    return String(error);
  }
}

function agree(bytes: Uint8Array): void {
  expect(read(bytes, addon!)).toEqual(read(bytes, typescriptDecoder));
}

it('an addon with another interface version is not used', () => {
  expect([{}, { interface: 3 }, { interface: 4 }, null].map(isOurs)).toEqual([false, false, true, false]);
});

const samples = readdirSync(path.join(root, 'samples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.bin'))
  .map((name) => path.join(root, 'samples', name));

it('the addon exists if and only if the plugin exists: one build makes both', () => {
  expect(addon !== null).toBe(existsSync(path.join(root, 'build/libnccl-profiler-trace.so')));
});

describe.skipIf(addon === null)('the addon agrees with the reader in TypeScript on', () => {
  it('every sample', () => {
    for (const file of samples) {
      const bytes = readFileSync(file);
      expect(read(bytes, addon!)).not.toBeTypeOf('string');
      agree(bytes);
    }
  });

  it('samples with random damage', () => {
    const few = samples.filter((_, i) => i % 5 === 0).map((file) => readFileSync(file));
    const damage = fc.array(fc.record({ at: fc.nat(1 << 18), value: fc.nat(255) }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(fc.constantFrom(...few), damage, fc.nat(40), (file, damage, cut) => {
        const bytes = new Uint8Array(file.subarray(0, cut === 0 ? file.length / 2 : file.length));
        // Behind the header and the directory: a file with damage there is refused before any slot is read.
        for (const { at, value } of damage) bytes[8192 + (at % (bytes.length - 8192))] = value;
        agree(bytes);
      }),
      { numRuns: RUNS },
    );
  });

  it('rings drained into chunks, whole and damaged', () => {
    const storage: fc.Arbitrary<Storage> = fc.record({
      capacity: fc.constantFrom(64, 128),
      drains: fc.array(
        fc.record({ after: fc.integer({ min: 1, max: 3 }), ring: fc.nat(2), keep: fc.nat(20) }),
        {
          maxLength: 6,
        },
      ),
      codec: fc.constantFrom('raw', 'zstd', 'zstdBare'),
      overlap: fc.nat(30),
    });
    const damage = fc.array(fc.record({ at: fc.nat(1 << 18), value: fc.nat(255) }), { maxLength: 20 });
    fc.assert(
      fc.property(storage, fc.array(fc.nat(300), { maxLength: 3 }), damage, (storage, torn, damage) => {
        const bytes = history(30, storage, torn).build();
        for (const { at, value } of damage) bytes[8192 + (at % (bytes.length - 8192))] = value;
        agree(bytes);
      }),
      { numRuns: RUNS },
    );
  });

  it('random slots, at any head, aligned or not', () => {
    const words = fc.uint32Array({ minLength: 8, maxLength: 8 * 40 });
    const position = fc.nat({ max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(words, position, fc.constantFrom(32, 64), fc.boolean(), (words, head, capacity, odd) => {
        const moved = odd ? new Uint32Array(new Uint32Array([0, ...words]).buffer, 4) : words;
        expect(addon!.checkRing(moved, capacity, head)).toEqual(
          typescriptDecoder.checkRing(moved, capacity, head),
        );
        expect(addon!.checkChunk(moved, head)).toEqual(typescriptDecoder.checkChunk(moved, head));
        const planes = new Uint8Array(moved.buffer, moved.byteOffset, moved.byteLength);
        expect(addon!.slotsOfPlanes(planes)).toEqual(typescriptDecoder.slotsOfPlanes(planes));
        const [one, other] = [moved.slice(), moved.slice()];
        addon!.dressSlots(one, head);
        typescriptDecoder.dressSlots(other, head);
        expect(one).toEqual(other);
      }),
      { numRuns: RUNS * 5 },
    );
  });

  it('frames that are whole, damaged, or claim another size', () => {
    const frame = compressFrame(new Uint8Array(4096).map((_, i) => (i * i) >> 7));
    fc.assert(
      fc.property(
        fc.nat(frame.length - 1),
        fc.nat(255),
        fc.constantFrom(4096, 4095, 0),
        (at, value, size) => {
          const bytes = frame.slice();
          bytes[at] = value;
          expect(addon!.decompressFrame(bytes, size)).toEqual(typescriptDecoder.decompressFrame(bytes, size));
        },
      ),
      { numRuns: RUNS * 5 },
    );
    expect(addon!.decompressFrame(frame, 4096)).toEqual(typescriptDecoder.decompressFrame(frame, 4096));
  });
});
