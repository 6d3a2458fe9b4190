/** What the reader's tests share: reading a builder's bytes, and records as lines that can be compared. */

import {
  CHUNK_HEADER,
  CHUNK_HEADER_BYTES,
  FILE_HEADER,
  HEADER_FIXED_BYTES,
} from '../../src/rankfile/format/constants.js';
import { crc32 } from '../../src/rankfile/format/crc32.js';
import { describeRecord } from '../../src/rankfile/describe.js';
import { memorySource } from '../../src/rankfile/byte_source.js';
import { parseRankFile } from '../../src/rankfile/rank_file.js';
import type { RankFile, Ring } from '../../src/rankfile/file_types.js';
import type { RankFileBuilder } from '../support/rank_files/rank_file_builder.js';

export const readBytes = (bytes: Uint8Array): RankFile => parseRankFile(memorySource('rank.bin', bytes));
export const read = (file: RankFileBuilder): RankFile => readBytes(file.build());

/** A changed copy whose header check is valid again, as if its writer had written it. */
export function resealed(file: Uint8Array, change: (view: DataView) => void): Uint8Array {
  const bytes = file.slice();
  const view = new DataView(bytes.buffer);
  change(view);
  view.setUint32(FILE_HEADER.headerCrc, 0, true);
  view.setUint32(FILE_HEADER.headerCrc, crc32(bytes.subarray(0, HEADER_FIXED_BYTES)), true);
  return bytes;
}

/** Makes the payload check of the chunk at `at` valid again. The header needs resealChunk afterwards. */
export function resealPayload(bytes: Uint8Array, at: number): void {
  const view = new DataView(bytes.buffer, at);
  const begin = at + CHUNK_HEADER_BYTES;
  const end = Math.min(bytes.length, begin + view.getUint32(CHUNK_HEADER.storedBytes, true));
  view.setUint32(CHUNK_HEADER.payloadCrc, crc32(bytes.subarray(begin, end)), true);
}

/** Makes the header check of the chunk at `at` valid again. */
export function resealChunk(bytes: Uint8Array, at: number): void {
  const view = new DataView(bytes.buffer, at);
  view.setUint32(CHUNK_HEADER.headerCrc, 0, true);
  view.setUint32(CHUNK_HEADER.headerCrc, crc32(bytes.subarray(at, at + CHUNK_HEADER_BYTES)), true);
}

/** "0:17 120 Stop handle=0:0": everything a record says, in one line. */
export const lines = (file: RankFile): string[] => file.rings.flatMap((ring) => ringLines(file, ring));

export function ringLines(file: RankFile, ring: Ring): string[] {
  return Array.from({ length: ring.records.length }, (_, row) => {
    const { position, tick, name, fields } = describeRecord(file, ring.ring, ring.records, row);
    return `${ring.ring}:${position} ${tick} ${name} ${fields.map(([field, value]) => `${field}=${value}`).join(' ')}`;
  });
}

/** Records without their strings, because strings are in other slots, which a test may have damaged. */
export function bareRecords(file: Pick<RankFile, 'rings'>): string[] {
  return file.rings.flatMap(({ ring, records }) =>
    Array.from({ length: records.length }, (_, i) => {
      const extra = records.extra.subarray(records.extraStart[i], records.extraStart[i + 1]);
      const words = [
        records.word1Low[i],
        records.word1High[i],
        records.word2Low[i],
        records.word2High[i],
        ...extra,
      ];
      return `${ring}:${records.position[i]} ${records.tick[i]} ${records.kind[i]} ${words.join(' ')}`;
    }),
  );
}

/** Positions of records and gaps: each from 0 to the end must be in exactly one. */
export function coverage(ring: Ring): [from: number, end: number][] {
  const { position, extraStart, length } = ring.records;
  const spans: [number, number][] = Array.from({ length }, (_, i) => {
    const slots = 1 + ((extraStart[i + 1] ?? 0) - (extraStart[i] ?? 0)) / 6;
    return [position[i] ?? 0, (position[i] ?? 0) + slots];
  });
  return [...spans, ...ring.gaps.map(({ from, end }): [number, number] => [from, end])].sort(
    (a, b) => a[0] - b[0],
  );
}

export function isSeamless(spans: readonly (readonly [from: number, end: number])[]): boolean {
  return spans.every(([from], i) => from === (spans[i - 1]?.[1] ?? 0));
}
