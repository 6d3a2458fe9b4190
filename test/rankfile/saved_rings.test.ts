/** Rings saved beside a rank file are read with it as one file, or left out with a reason. */

import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

import {
  AREA_ENTRY,
  AREA_ENTRY_BYTES,
  AreaClass,
  CLOCK_SAMPLE_SLOTS,
  FILE_HEADER,
  HEADER_BYTES,
  Life,
  SLOT_BYTES,
} from '../../src/rankfile/format/constants.js';
import { findRankFiles, openRankFile } from '../../src/rankfile/index.js';
import { resealed } from './read.js';

const sample = (name: string): string =>
  fileURLToPath(new URL(`../../samples/${name}/rank00000.bin`, import.meta.url));
const SAMPLE = sample('straggler');

let folder: string;
let rank: string;
let rings: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'saved-'));
  rank = path.join(folder, 'rank00000.bin');
  rings = `${rank}.rings`;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const records = (file: string): number =>
  openRankFile(file).rings.reduce((sum, ring) => sum + ring.records.length, 0);

/** A rank file whose rings were never copied into it: header, directory and zeros. */
function emptied(bytes: Uint8Array): Uint8Array {
  const empty = new Uint8Array(bytes.length);
  empty.set(bytes.subarray(0, HEADER_BYTES + 64 * 64));
  return empty;
}

it('the rings come from the saved file', () => {
  const bytes = readFileSync(SAMPLE);
  writeFileSync(rank, emptied(bytes));
  expect(records(rank)).toBe(0);
  copyFileSync(SAMPLE, rings);
  expect(records(rank)).toBe(records(SAMPLE));
  expect(openRankFile(rank)).toMatchObject({ path: rank, bytes: bytes.length, problems: [] });
});

it('the rings come from the saved file even if the rank file is incomplete or missing', () => {
  writeFileSync(rank, new Uint8Array(HEADER_BYTES));
  copyFileSync(SAMPLE, rings);
  expect(records(rank)).toBe(records(SAMPLE));
  rmSync(rank);
  expect(findRankFiles([folder]).files).toEqual([rings]);
  expect(records(rings)).toBe(records(SAMPLE));
});

it('saved rings of another process, or incomplete ones, are not used, and the report says so', () => {
  copyFileSync(SAMPLE, rank);
  copyFileSync(sample('hang'), rings);
  expect(records(rank)).toBe(records(SAMPLE));
  expect(openRankFile(rank).problems.map(({ what }) => what)).toEqual([
    'the saved rings beside it (.rings) belong to another process',
  ]);
  const half = Uint8Array.from(readFileSync(SAMPLE));
  new DataView(half.buffer).setUint32(FILE_HEADER.life, Life.Creating, true);
  for (const unfinished of [half, new Uint8Array(0), half.subarray(0, SLOT_BYTES)]) {
    writeFileSync(rings, unfinished);
    expect(records(rank)).toBe(records(SAMPLE));
    expect(openRankFile(rank).problems.map(({ what }) => what)).toEqual([
      'the saved rings beside it (.rings) are not complete: who saved them did not finish',
    ]);
  }
});

it('chunks come from the rank file', () => {
  const stream = sample('stream-killed');
  copyFileSync(stream, rank);
  const whole = openRankFile(rank);
  expect(whole.chunks.count).toBeGreaterThan(0);
  const border = Number(
    new DataView(Uint8Array.from(readFileSync(rank)).buffer).getBigUint64(FILE_HEADER.chunksOffset, true),
  );
  writeFileSync(rings, readFileSync(stream).subarray(0, border));
  writeFileSync(
    rank,
    Buffer.concat([emptied(readFileSync(stream).subarray(0, border)), readFileSync(stream).subarray(border)]),
  );
  const joined = openRankFile(rank);
  expect(joined.rings).toEqual(whole.rings);
  expect(joined.chunks).toEqual(whole.chunks);
});

/** The sample as it was one heartbeat earlier. */
function withoutLastHeartbeat(bytes: Uint8Array): Uint8Array {
  const older = Uint8Array.from(bytes);
  const view = new DataView(older.buffer);
  const directory = Number(view.getBigUint64(FILE_HEADER.directoryOffset, true));
  const areas = view.getUint32(FILE_HEADER.areaCount, true);
  for (let area = 0; area < areas; area++) {
    const entry = directory + area * AREA_ENTRY_BYTES;
    if (view.getUint32(entry + AREA_ENTRY.areaClass, true) !== AreaClass.TableHeartbeat) continue;
    const live = Number(view.getBigUint64(entry + AREA_ENTRY.liveOffset, true));
    const slots = Number(view.getBigUint64(entry + AREA_ENTRY.slotsOffset, true));
    const head = Number(view.getBigUint64(live, true)) - CLOCK_SAMPLE_SLOTS;
    const capacity = view.getUint32(entry + AREA_ENTRY.capacity, true);
    const at = slots + (head % capacity) * SLOT_BYTES;
    older.fill(0, at, at + CLOCK_SAMPLE_SLOTS * SLOT_BYTES);
    view.setBigUint64(live, BigInt(head), true);
  }
  return older;
}

it('saved rings are not used if the file is newer: its process was alive when they were saved', () => {
  copyFileSync(SAMPLE, rank);
  const whole = openRankFile(rank);
  writeFileSync(rings, withoutLastHeartbeat(readFileSync(SAMPLE)));
  const { problems, ...facts } = openRankFile(rank);
  expect(problems.map(({ what }) => what)).toEqual([
    'the saved rings beside it (.rings) are older than the file, not used',
  ]);
  expect({ ...facts, problems: [] }).toEqual(whole);
  copyFileSync(SAMPLE, rings);
  writeFileSync(rank, withoutLastHeartbeat(readFileSync(SAMPLE)));
  expect(openRankFile(rank)).toEqual(whole);
});

const withoutBorder = (): Uint8Array =>
  resealed(Uint8Array.from(readFileSync(SAMPLE)), (view) => {
    view.setBigUint64(FILE_HEADER.chunksOffset, 0n, true);
  });

it('saved rings that are damaged, cut short or unreadable are not used, and the report says why', () => {
  copyFileSync(SAMPLE, rank);
  const whole = openRankFile(rank);
  const damaged = Uint8Array.from(readFileSync(SAMPLE));
  damaged[FILE_HEADER.runId]! ^= 1;
  const border = Number(new DataView(damaged.buffer).getBigUint64(FILE_HEADER.chunksOffset, true));
  for (const [bytes, why] of [
    [damaged, "the header's check does not match"],
    [readFileSync(SAMPLE).subarray(0, border - 1), 'are cut short, not used'],
    [withoutBorder(), 'do not say where they end, not used'],
  ] as const) {
    writeFileSync(rings, bytes);
    const { problems, ...facts } = openRankFile(rank);
    expect(problems.map(({ what }) => what)).toEqual([expect.stringContaining(why)]);
    expect({ ...facts, problems: [] }).toEqual(whole);
  }
  rmSync(rings);
  symlinkSync(rings, rings);
  expect(openRankFile(rank).problems.map(({ what }) => what)).toEqual([
    expect.stringContaining('(.rings) cannot be used: cannot be opened'),
  ]);
});

it('a rank file and its saved rings, both named by a shell, are one file', () => {
  copyFileSync(SAMPLE, rank);
  copyFileSync(SAMPLE, rings);
  expect(findRankFiles([rank, rings])).toEqual({ files: [rank], problems: [] });
  expect(findRankFiles([rings])).toEqual({ files: [rank], problems: [] });
  expect(findRankFiles([folder]).files).toEqual([rank]);
});
