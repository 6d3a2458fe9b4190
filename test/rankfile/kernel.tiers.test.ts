/**
 * The kernel reads the same as the tests' own reader, column for column: every sample, streamed histories, and files with random damage. The
 * addon unpacks as the package does.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimedSize } from '../../src/base/zstd_frame.js';
import { KernelFile } from '../../src/kernel/host/kernel_file.js';
import { compressFrame, decompressFrame } from '../../src/rankfile/zstd.js';
import { memorySource } from '../../src/rankfile/byte_source.js';
import { addon, isOurs } from '../../src/rankfile/addon.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import type { FileRecords } from '../../src/rankfile/record_reader.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { ADDON } from '../../scripts/native.mjs';
import { builtNative } from '../support/jobs/native.js';
import { history, type Storage } from '../support/made_up/streamed_run.js';
import { ReferenceFile } from '../support/rank_files/reference_records.js';
import { inTier } from '../support/tiers/tier.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const RUNS = inTier({ first: 8, ci: 25, long: 3000 });

/** The file, or the error message. */
function read(bytes: Uint8Array, made: FileRecords): RankFile | string {
  try {
    return parseRankFile(memorySource('rank.bin', bytes), made);
  } catch (error) {
    return String(error);
  }
}

function agree(bytes: Uint8Array): void {
  expect(read(bytes, new KernelFile())).toEqual(read(bytes, new ReferenceFile()));
}

it('an addon with another interface version is not used', () => {
  expect([{}, { interface: 5 }, { interface: 6 }, null].map(isOurs)).toEqual([false, false, true, false]);
});

const samples = readdirSync(path.join(root, 'samples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.bin'))
  .map((name) => path.join(root, 'samples', name));

it('the addon is used wherever it can be built', async () => {
  const canBuild = await builtNative(ADDON).then(
    () => true,
    () => false,
  );
  expect(addon !== null).toBe(canBuild);
});

describe('the kernel agrees with the reference on', () => {
  it('every sample', () => {
    for (const file of samples) {
      const bytes = readFileSync(file);
      expect(read(bytes, new KernelFile())).not.toBeTypeOf('string');
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

  it('random slots, at any head', () => {
    const words = fc.uint32Array({ minLength: 8, maxLength: 8 * 32 });
    const position = fc.nat({ max: 2 ** 48 - 1 });
    const frame = { base: 0n, farthest: 2 ** 53 };
    fc.assert(
      fc.property(words, position, fc.constantFrom(32, 64), (words, head, capacity) => {
        const slots = words.length >> 3;
        const bytes = { slots, read: () => new Uint8Array(words.slice(0, slots * 8).buffer) };
        const [own, other] = [new KernelFile(), new ReferenceFile()].map((file) => {
          const { ring } = file.table(frame, { capacity, head }, bytes);
          return {
            positions: Array.from({ length: slots }, (_, i) => ring.positionAt(i)),
            torn: ring.tornSlots,
            stretches: ring.stretches(),
          };
        });
        expect(own).toEqual(other);
      }),
      { numRuns: RUNS * 5 },
    );
  });
});

describe.skipIf(addon?.decompress === undefined)('the addon unpacks as the package does', () => {
  const unpacked = (frame: Uint8Array, size: number): Uint8Array | null =>
    claimedSize(frame) === size ? addon!.decompress!(frame, size) : null;

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
          // A frame has no checksum, and implementations of zstd differ in which damage they notice. Each slot is checked afterwards.
          for (const found of [unpacked(bytes, size), decompressFrame(bytes, size)])
            if (found !== null) expect(found).toHaveLength(size);
          if (bytes[at] === frame[at]) expect(unpacked(bytes, size)).toEqual(decompressFrame(bytes, size));
        },
      ),
      { numRuns: RUNS * 5 },
    );
    expect(unpacked(frame, 4096)).toEqual(decompressFrame(frame, 4096));
  });
});
