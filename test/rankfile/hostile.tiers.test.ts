/**
 * Damaged bytes: every truncation, every flipped byte, random damage. The result is a RankFileError or a usable file, and a
 * usable file holds nothing that was not written: no record, communicator, string or sample.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { RankFileError } from '../../src/base/errors.js';
import { HEADER_FIXED_BYTES } from '../../src/rankfile/format/constants.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';
import { bareRecords, readBytes } from './read.js';
import { inTier } from '../support/tiers/tier.js';

function smallFile(): Uint8Array {
  const file = new RankFileBuilder({ rank: 1, worldSize: 2 });
  const comm = file.communicator({ name: 'dp', commId: 77n });
  file.communicator({ name: 'tp', finalizeTick: 500 });
  const host = file.ring('host', 16, { tid: 5, threadName: 'python' });
  const steps = file.ring('steps', 16);
  for (let i = 0; i < 5; i++) host.stop(100 + i, host.startColl(90 + i, { comm, seqNumber: i }));
  for (let i = 0; i < 9; i++) {
    const step = steps.startProxyStep(100 + i, { comm, step: i });
    steps.state(100 + i, step, 9, i).openFold(step, 20, 5, 300 + i);
  }
  file.heartbeat(100).heartbeat(200).clockSample(50).clockSample(150);
  return file.build();
}

/** In bytes. 11 and 3 divide no field's size, so among the fields of one kind every byte is met. */
const STEP = inTier({ first: 11, ci: 5, long: 1 });
const RUNS = inTier({ first: 500, ci: 3000, long: 3000 });
const original = smallFile();
const whole = readBytes(original);

/**
 * Everything a file claims and can prove, one line each. A table that is read as a ring, or a ring as a table, claims
 * nothing new. Of an open fold only the handle is proved, because its other words change with every repeat.
 */
function claims(file: RankFile): string[] {
  const show = (value: unknown): string =>
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part));
  return [
    ...bareRecords(file).filter((record) => Number(record.split(' ')[2]) >= 0x10),
    ...[...file.communicators.values()].map(({ finalized: _, ...rest }) => show(rest)),
    ...file.strings.map((text, id) => (text === undefined || text === '' ? '' : `${id} ${text}`)),
    ...file.leases.map(({ endTick: _, endPosition: __, ...rest }) => show(rest)),
    ...file.clockSamples.map(show),
    ...file.folds.map(({ ring, handleLow, handleHigh }) => show([ring, handleLow, handleHigh])),
  ];
}

const written = new Set([...claims(whole), '']);

/** The file or its RankFileError. Any other error fails the test, and so does a claim that was never written. */
function outcome(bytes: Uint8Array): RankFileError | RankFile {
  try {
    const file = readBytes(bytes);
    for (const claim of claims(file)) if (!written.has(claim)) throw new Error(`invented: ${claim}`);
    return file;
  } catch (error) {
    if (error instanceof RankFileError) return error;
    throw error;
  }
}

describe('hostile bytes', () => {
  it('the undamaged file has no problems', () => {
    expect(whole.problems).toEqual([]);
    expect(whole.rings.map(({ records }) => records.length)).toEqual([7, 16]);
    expect(whole.folds).toHaveLength(4);
  });

  it('cut anywhere', () => {
    for (let length = 0; length < original.length; length += STEP) {
      const result = outcome(original.slice(0, length));
      if (length < 4096 + 7 * 64) expect(result).toBeInstanceOf(RankFileError);
      else if (!(result instanceof RankFileError)) expect(result.bytes).toBe(length);
    }
  });

  it('cut inside an area: reports it and keeps the rest', () => {
    const view = new DataView(original.buffer);
    const slots = Number(view.getBigUint64(4096 + 64 + 24, true));
    const result = readBytes(original.slice(0, slots + 10 * 32));
    expect(result.problems[0]?.what).toBe('areas cut off by the end of the file: the copy was cut short');
    expect(result.rings[1]?.records.length).toBe(10);
    expect(result.rings[0]?.records.length).toBe(7);
  });

  it('any byte of the header changed', () => {
    for (let at = 0; at < 4096; at += STEP)
      for (const change of [0x01, 0x80, 0xff]) {
        const bytes = original.slice();
        bytes[at]! ^= change;
        const result = outcome(bytes);
        if (at < HEADER_FIXED_BYTES) expect(result).toBeInstanceOf(RankFileError);
      }
  });

  it('any byte behind the header changed', () => {
    for (let at = 4096; at < original.length; at += STEP) {
      const bytes = original.slice();
      bytes[at]! ^= 0x10;
      outcome(bytes);
    }
  });

  it('any damage to the directory', () => {
    const damage = fc.array(
      fc.record({ at: fc.integer({ min: 4096, max: 4096 + 7 * 64 - 1 }), to: fc.nat(255) }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = original.slice();
        for (const { at, to } of changes) bytes[at] = to;
        outcome(bytes);
      }),
      { seed: 11, numRuns: RUNS },
    );
  });

  it('any damage anywhere: bytes, blocks of zeros, blocks moved', () => {
    const place = fc.integer({ min: 2048, max: original.length - 1 });
    const change = fc.oneof(
      fc.record({ kind: fc.constant('byte' as const), at: place, to: fc.nat(255) }),
      fc.record({ kind: fc.constant('zeros' as const), at: place, length: fc.nat(600) }),
      fc.record({ kind: fc.constant('move' as const), at: place, from: place, length: fc.nat(100) }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 10 }), (changes) => {
        const bytes = original.slice();
        for (const made of changes)
          if (made.kind === 'byte') bytes[made.at] = made.to;
          else if (made.kind === 'zeros') bytes.fill(0, made.at, made.at + made.length);
          else bytes.copyWithin(made.at, made.from, made.from + made.length);
        outcome(bytes);
      }),
      { seed: 12, numRuns: RUNS },
    );
  });

  it('random bytes in all areas', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const bytes = original.slice();
        let state = seed | 1;
        for (let at = 4096 + 7 * 64; at < bytes.length; at++) {
          state = Math.imul(state, 1664525) + 1013904223;
          bytes[at] = state >>> 24;
        }
        const file = outcome(bytes);
        expect(file).not.toBeInstanceOf(RankFileError);
      }),
      { seed: 13, numRuns: 200 },
    );
  });
});
