/** Damaged and hostile frames are refused without a crash, and without allocating the size that they claim. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compressFrame, decompressFrame } from '../../src/rankfile/zstd.js';

const SIZE = 100_000;
const raw = Uint8Array.from({ length: SIZE }, (_, i) => (i * i) >> 7);
const frame = compressFrame(raw);

/** The frame with another content size in its header. */
function claiming(size: bigint): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, 0xfd2fb528, true);
  view.setUint8(4, 0xe0);
  view.setBigUint64(5, size, true);
  return Buffer.concat([header, frame.subarray(9)]);
}

describe('a zstd frame', () => {
  it('holds the packed bytes', () => {
    expect(decompressFrame(frame, SIZE)).toEqual(raw);
    expect(decompressFrame(compressFrame(new Uint8Array(0)), 0)).toEqual(new Uint8Array(0));
    for (const size of [1, 255, 256, 257, 65_791, 65_792, 2 ** 20])
      expect(decompressFrame(compressFrame(new Uint8Array(size)), size)?.length).toBe(size);
  });

  it('of another size than requested is refused', () => {
    for (const size of [0, 1, SIZE - 1, SIZE + 1, 2 ** 32 + SIZE])
      expect(decompressFrame(frame, size)).toBeNull();
  });

  it('that claims more, or less, than it holds is refused', () => {
    for (const size of [10n, 2n ** 30n, 2n ** 32n + BigInt(SIZE), 2n ** 63n, 2n ** 64n - 1n]) {
      expect(decompressFrame(claiming(size), SIZE)).toBeNull();
      expect(decompressFrame(claiming(size), Number(size))).toBeNull();
    }
  });

  it('cut short anywhere is refused', () => {
    for (let end = 0; end < Math.min(frame.length, 300); end++)
      expect(decompressFrame(frame.subarray(0, end), SIZE)).toBeNull();
    expect(decompressFrame(frame.subarray(0, -1), SIZE)).toBeNull();
  });

  it('with any bytes changed is refused or has the right size, and the next frame still unpacks', () => {
    const change = fc.record({ at: fc.nat(frame.length - 1), to: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), (changes) => {
        const damaged = frame.slice();
        for (const { at, to } of changes) damaged[at] = to;
        expect([SIZE, undefined]).toContain(decompressFrame(damaged, SIZE)?.length);
        expect(decompressFrame(frame, SIZE)).not.toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});
