/** Both readers on rings, copies, damage and whole files (agreement.ts): records and losses. */

import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FILE_HEADER, HEADER_FIXED_BYTES, Kind } from '../../src/rankfile/format/constants.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { SlotArea } from '../support/rank_files/slot_area.js';
import {
  agreed,
  agreedFacts,
  fill,
  smallFile,
  liveCopy,
  withNumbers,
  withU32,
  slotsOffset,
  upTo,
} from './agreement.js';
import { readByStranger, readByUs } from './readings.js';
import { inTier } from '../support/tiers/tier.js';

const samples = fileURLToPath(new URL('../../samples', import.meta.url));

/** Bytes. The stranger takes ten seconds for the large ones. */
const LARGEST_SAMPLE = inTier({ first: 500e3, long: Infinity });

/** In bytes: it divides no field's size, so among the fields of one kind every byte is met. */
const STRIDE = inTier({ first: 11, long: 1 });

describe("a stranger's reader agrees with ours on", () => {
  it('a small file', () => {
    const [facts] = agreedFacts(smallFile().build());
    expect(facts?.records).toHaveLength(12 + 3 + 5);
    expect(facts?.communicators).toHaveLength(3);
    expect(facts?.leases).toHaveLength(2);
    expect(facts?.heartbeat).not.toBeNull();
  });

  it('an empty file', () => {
    expect(agreedFacts(new RankFileBuilder().build())[0]?.rings).toEqual([]);
  });

  it('a ring before, at and after its first lap', () => {
    const files = upTo(80).map((slots) => {
      const file = new RankFileBuilder();
      const ring = file.ring('steps', 32);
      while (ring.head < slots)
        if (ring.head % 3 === 0) ring.stop(ring.head, 1n);
        else ring.startKernelCh(ring.head);
      return file.build();
    });
    agreed(...files);
  });

  it('a wrapped ring', () => {
    const file = new RankFileBuilder();
    fill(file.ring('steps', 64, { startAt: 2 ** 33 - 40 }), 0, 50);
    fill(file.ring('overflow', 16), 0, 7);
    const [facts] = agreedFacts(file.build());
    expect(facts?.rings.map(({ missing }) => missing.overwritten > 0)).toEqual([true, true]);
  });

  it('torn slots, wherever they are', () => {
    const files = upTo(24).map((half) => {
      const torn = 2 * half;
      const file = new RankFileBuilder();
      const young = file.ring('host', 64);
      const wrapped = file.ring('steps', 64);
      fill(young, 0, 6);
      fill(wrapped, 0, 20);
      young.tear(torn);
      wrapped.tear(wrapped.head - 1 - torn);
      return file.build();
    });
    for (const { rings } of agreedFacts(...files))
      expect(rings.map(({ tornSlots }) => tornSlots)).toEqual([1, 1]);
  });

  it('a head that is behind, and one that is ahead', () => {
    const behind = [1, 30, 63, 64, 5000, 2 ** 23 - 1, 2 ** 23, 2 ** 23 + 70];
    const files = [...behind, -1, -20, -64, -500].map((stale) => {
      const file = new RankFileBuilder();
      fill(file.ring('steps', 64, { startAt: 2 ** 24 - 20 }).staleHead(stale), 0, 10);
      fill(file.ring('host', 64).staleHead(stale), 0, 4);
      return file.build();
    });
    agreed(...files);
  });

  it('a live copy: half of the old lap, half of the new', () => {
    const file = new RankFileBuilder();
    const steps = file.ring('steps', 64);
    fill(steps, 0, 11);
    const older = file.build();
    fill(steps, 11, 5);
    const newer = file.build();
    const copies = upTo(33).flatMap((half) => {
      const at = slotsOffset(older, 0) + half * 64;
      return [liveCopy(older, newer, at), liveCopy(newer, older, at)];
    });
    const gaps = agreedFacts(...copies).map(({ rings }) => rings[0]?.missing.copy ?? 0);
    expect(Math.max(...gaps)).toBeGreaterThan(20);
  });

  it('kinds and areas of a later version, records too short and too long', () => {
    const file = new RankFileBuilder({ writerVersion: 9 });
    file.area(77, new SlotArea(8, 'wraps')).area(0, new SlotArea(8, 'wraps'));
    const ring = file.ring('host', 64);
    ring.record(0x99, 10, 1n, 2n);
    ring.record(0x41, 11, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.Lease, 12, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.StartColl, 13, 1n, 2n, 3n, 4n, 5n);
    ring.record(Kind.Stop, 14, 1n, 2n, 3n, 4n, 5n);
    const [facts] = agreedFacts(file.build());
    expect(facts).toMatchObject({ unknownAreas: 1, badAreas: 1, records: [expect.stringMatching(/^0:7 /)] });
    expect(facts?.rings[0]).toMatchObject({ unknownKinds: 3, missing: { torn: 2 } });
  });

  it('files cut short', () => {
    const whole = smallFile().build();
    agreed(...upTo(50).map((i) => whole.subarray(0, Math.floor((i * whole.length) / 50))));
  });

  it('data that may not be used', () => {
    const damaged = [0, 7, FILE_HEADER.endianMark, FILE_HEADER.rank, FILE_HEADER.slotBytes].map((offset) => {
      const bytes = smallFile().build();
      bytes[offset]! ^= 1;
      return bytes;
    });
    const creating = new RankFileBuilder({ life: 'creating' }).build();
    const versions = [0, 2].map((readerVersion) => new RankFileBuilder({ readerVersion }).build());
    const whole = smallFile().build();
    const end = BigInt(whole.length);
    const places = [2048n, 4088n, 4100n, end - 64n, end, 2n ** 60n];
    const misplaced = places.map((at) => withNumbers(whole, [FILE_HEADER.directoryOffset, at]));
    const tooMany = withU32(Buffer.concat([whole, new Uint8Array(4097 * 64)]), FILE_HEADER.areaCount, 4097);
    const nowhere = withNumbers(withU32(whole, FILE_HEADER.areaCount, 0), [
      FILE_HEADER.directoryOffset,
      end + 8n,
    ]);
    const readings = agreed(...damaged, creating, ...versions, ...misplaced, tooMany, nowhere);
    expect(new Set(readings)).toEqual(new Set(['refused']));
  });

  it('damaged directories', () => {
    const whole = smallFile().build();
    const byte = fc.record({ at: fc.integer({ min: 4096, max: 4096 + 7 * 64 - 1 }), to: fc.nat(255) });
    const damages = fc.sample(fc.array(byte, { minLength: 1, maxLength: 4 }), { seed: 21, numRuns: 150 });
    const files = damages.map((bytes) => {
      const damaged = whole.slice();
      for (const { at, to } of bytes) damaged[at] = to;
      return damaged;
    });
    agreed(...files);
  });

  it('any byte of the header changed, which is refused', () => {
    const whole = smallFile().build();
    const files = upTo(Math.ceil(HEADER_FIXED_BYTES / STRIDE)).map((i) => {
      const bytes = whole.slice();
      bytes[i * STRIDE]! ^= 0xff;
      return bytes;
    });
    expect(new Set(agreed(...files))).toEqual(new Set(['refused']));
  });

  it('damage anywhere behind the header: bytes, blocks of zeros, blocks moved, noise', () => {
    const whole = smallFile().build();
    const place = fc.integer({ min: 4096, max: whole.length - 1 });
    // Whole slots, too: their checks hold, but for another place.
    const slot = place.map((at) => at - (at % 32));
    const change = fc.oneof(
      fc.record({ at: place, bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
      fc.record({ at: place, zeros: fc.nat(600) }),
      fc.record({ at: slot, from: slot, length: fc.nat(10).map((slots) => 32 * slots) }),
    );
    const damages = fc.sample(fc.array(change, { minLength: 1, maxLength: 10 }), {
      seed: 23,
      numRuns: inTier({ first: 150, long: 3000 }),
    });
    const files = damages.map((changes) => {
      const damaged = whole.slice();
      for (const one of changes)
        if ('zeros' in one) damaged.fill(0, one.at, one.at + one.zeros);
        else if ('from' in one) damaged.copyWithin(one.at, one.from, one.from + one.length);
        else damaged.subarray(one.at).set(one.bytes.subarray(0, damaged.length - one.at));
      return damaged;
    });
    agreed(...files);
  });

  it('every sample', () => {
    const files = readdirSync(samples, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^rank.*\.bin$/.test(path.basename(name)))
      .map((name) => path.join(samples, name))
      .filter((file) => statSync(file).size <= LARGEST_SAMPLE);
    expect(files.length).toBeGreaterThan(30);
    const theirs = readByStranger(files);
    for (const [i, file] of files.entries()) expect(theirs[i], file).toEqual(readByUs(file));
  });
});
