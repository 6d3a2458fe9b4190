/** The addon is used wherever it can be built, and unpacks as the package does. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimedSize } from '../../src/base/zstd_frame.js';
import { compressFrame, decompressFrame } from '../../src/rankfile/zstd.js';
import { addon, isOurs } from '../../src/rankfile/addon.js';
import { ADDON } from '../../scripts/native.mjs';
import { builtNative } from '../support/jobs/native.js';
import { inTier } from '../support/tiers/tier.js';

const RUNS = inTier({ first: 8, long: 3000 });

it('an addon with another interface version is not used', () => {
  expect([{}, { interface: 5 }, { interface: 6 }, null].map(isOurs)).toEqual([false, false, true, false]);
});

it('the addon is used wherever it can be built', async () => {
  const canBuild = await builtNative(ADDON).then(
    () => true,
    () => false,
  );
  expect(addon !== null).toBe(canBuild);
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
