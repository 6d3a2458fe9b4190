/**
 * Chunks that no recorder wrote, with correct checks: which records a reader may take from them.
 *
 * The format promises only this: each slot of a record was written at its position, or passes the slot check for that position. The
 * check has 24 bits, over words joined by exclusive or. It finds half-written slots and slots in wrong places. Two changes that cancel
 * each other are found by the payload's CRC.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decompressFrame } from '../../src/rankfile/zstd.js';
import { CHUNK_HEADER, CHUNK_HEADER_BYTES, Codec } from '../../src/rankfile/format/constants.js';
import type { RankFile } from '../../src/rankfile/file_types.js';
import { word3 } from '../support/rank_files/slot_area.js';
import { history } from '../support/made_up/streamed_run.js';
import { coverage, isSeamless, readBytes, resealChunk, resealPayload } from './read.js';
import { inTier } from '../support/tiers/tier.js';

interface Change {
  readonly chunk: number;
  readonly at: number;
  readonly to: number;
}

/** A file with many chunks, and their offsets. The slots are not bare: a bare slot's check is computed while unpacking and proves nothing. */
function recorded(codec: 'raw' | 'zstd') {
  const drains = [{ after: 2, ring: 2, keep: 3 }];
  const builder = history(40, { capacity: 64, drains, codec, overlap: 0 });
  const bytes = builder.build();
  return { bytes, offsets: builder.chunkOffsets(), written: new Set(slotsOfRecords(readBytes(bytes))) };
}

/** A changed copy whose header checks and payload checks are valid again. */
function forged({ bytes, offsets }: ReturnType<typeof recorded>, changes: readonly Change[]): Uint8Array {
  const copy = bytes.slice();
  for (const { chunk, at, to } of changes) {
    const place = offsets[chunk % offsets.length]!;
    if (place + at >= copy.length) continue;
    copy[place + at] = to;
    resealPayload(copy, place);
    resealChunk(copy, place);
  }
  return copy;
}

/** The slots of all records: "ring:position kind part/parts" and the rest, as numbers. */
function slotsOfRecords({ rings }: RankFile): string[] {
  return rings.flatMap(({ ring, records }) =>
    Array.from({ length: records.length }, (_, row) => {
      const extra = [...records.extra.subarray(records.extraStart[row], records.extraStart[row + 1])];
      const { tick, word1Low, word1High, word2Low, word2High } = records;
      const first = [tick[row]!, word1Low[row]!, word1High[row]!, word2Low[row]!, word2High[row]!];
      const parts = 1 + extra.length / 6;
      return Array.from({ length: parts }, (_, part) => {
        const words = part === 0 ? first : extra.slice(6 * part - 6, 6 * part);
        return slotLine(
          { ring, position: records.position[row]! + part, part, parts, words },
          records.kind[row]!,
        );
      });
    }).flat(),
  );
}

interface Place {
  readonly ring: number;
  readonly position: number;
  readonly part: number;
  readonly parts: number;
  readonly words: readonly number[];
}

const slotLine = ({ ring, position, part, parts, words }: Place, kind: number): string =>
  `${ring}:${position} ${kind} ${part}/${parts} ${words.join(' ')}`;

/** The slots in payloads that pass the check of schemas/rank-file.md at the position that their chunk's header gives. */
function provenSlots(bytes: Uint8Array, offsets: readonly number[], { header }: RankFile): Set<string> {
  const proven = new Set<string>();
  for (const place of offsets) {
    const chunk = new DataView(bytes.buffer, place, CHUNK_HEADER_BYTES);
    const ring = chunk.getUint16(CHUNK_HEADER.area, true);
    const first = Number(chunk.getBigUint64(CHUNK_HEADER.firstPosition, true));
    const slots = unpacked(bytes.subarray(place + CHUNK_HEADER_BYTES), chunk);
    for (let at = 0; slots !== null && at + 32 <= slots.byteLength; at += 32) {
      const halves = Array.from({ length: 6 }, (_, i) => slots.getUint32(at + 4 * i, true));
      const words = [0, 8, 16].map((offset) => slots.getBigUint64(at + offset, true));
      const stored = slots.getBigUint64(at + 24, true);
      const [kind, named] = [Number(stored & 0xffn), Number((stored >> 8n) & 0xffn)];
      const [part, parts] = [named & 15, named >> 4];
      const position = first + at / 32;
      if (kind === 0 || part >= parts || word3(words, kind, part, parts, position) !== stored) continue;
      const told = part === 0 ? [Number(words[0]! - header.tickBase), ...halves.slice(2)] : halves;
      proven.add(slotLine({ ring, position, part, parts, words: told }, kind));
    }
  }
  return proven;
}

function unpacked(behind: Uint8Array, header: DataView): DataView | null {
  const stored = behind.subarray(0, header.getUint32(CHUNK_HEADER.storedBytes, true));
  const codec = header.getUint16(CHUNK_HEADER.codec, true);
  const isZstd = codec === Codec.Zstd;
  if (!isZstd && codec !== Codec.Raw) return null;
  const raw = isZstd ? decompressFrame(stored, header.getUint32(CHUNK_HEADER.rawBytes, true)) : stored;
  return raw && new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
}

/** Slots of records that were not written and do not pass their own check. */
function invented(file: ReturnType<typeof recorded>, changes: readonly Change[]): string[] {
  const bytes = forged(file, changes);
  const read = readBytes(bytes);
  for (const ring of read.rings) expect(isSeamless(coverage(ring))).toBe(true);
  const unknown = slotsOfRecords(read).filter((slot) => !file.written.has(slot));
  if (unknown.length === 0) return [];
  const proven = provenSlots(bytes, file.offsets, read);
  return unknown.filter((slot) => !proven.has(slot));
}

describe('forged chunks', () => {
  const change = fc.record({ chunk: fc.nat(), at: fc.nat(300), to: fc.nat(255) });

  it.each(['raw', 'zstd'] as const)(
    'give no record with a slot that was not written and does not pass its own check: %s',
    (codec) => {
      const file = recorded(codec);
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
          expect(invented(file, changes)).toEqual([]);
        }),
        {
          numRuns: inTier({ first: 30, long: 3000 }),
          // Changes a literal of the frame that is the kind of four slots and the tick of one. In that one, both changes cancel.
          examples: [[[{ chunk: 439_169_016, at: 247, to: 129 }]]],
        },
      );
    },
  );

  it('can hold a slot that passes its check because two changes cancel: the check of the payload finds it', () => {
    const file = recorded('raw');
    const chunk = 5;
    const place = file.offsets[chunk]!;
    const slot = CHUNK_HEADER_BYTES + 2 * 32;
    const to = (at: number): number => file.bytes[place + at]! ^ 0x6b;
    const tick = { chunk, at: slot, to: to(slot) };
    const kind = { chunk, at: slot + 24, to: to(slot + 24) };
    const unwritten = (bytes: Uint8Array): string[] =>
      slotsOfRecords(readBytes(bytes)).filter((line) => !file.written.has(line));
    expect(unwritten(forged(file, [tick]))).toEqual([]);
    expect(unwritten(forged(file, [kind]))).toEqual([]);
    expect(unwritten(forged(file, [tick, kind]))).toHaveLength(1);
    expect(invented(file, [tick, kind])).toEqual([]);

    const damaged = file.bytes.slice();
    for (const { at, to } of [tick, kind]) damaged[place + at] = to;
    expect(unwritten(damaged)).toEqual([]);
    expect(readBytes(damaged).problems).toContainEqual({
      what: 'chunks whose payload does not match its check, left out',
      count: 1,
    });
  });
});
