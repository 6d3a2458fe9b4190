/**
 * Reads the header: whether this is a rank file, whether this reader can read it, and which process wrote it. Each check needs the checks
 * before it: magic, length, byte order, version, life, CRC, sizes. The CRC covers bytes [0, 2048). The rest changes during recording and is
 * not covered.
 */

import { RankFileError, type RankFileFault } from '../base/errors.js';
import type { Ticks } from '../base/time.js';
import * as format from './format/constants.js';
import { crc32 } from './format/crc32.js';
import { HEADER_RANGES, isIn, type RangedHeaderField } from './format/ranges.js';
import type { ByteSource } from './byte_source.js';
import { checkMagic } from './magic.js';
import type { Problems } from './problems.js';
import { frameOf, type TickFrame, tickIn } from './tick_frame.js';
import type { Life, Mode, Placement, RankFileHeader, TickSource } from './file_types.js';

const H = format.FILE_HEADER;
const NEWEST_READER = 'update nccl-trace';
const COPY_AGAIN = 'copy it again (a live file may be copied at any time)';

/** Layout of the file, only for the reader. */
export interface HeaderLayout {
  readonly areaCount: number;
  readonly directoryOffset: number;
  readonly chunksOffset: number;
  /** 0: none yet. */
  readonly chunksBegin: number;
}

export interface ParsedHeader {
  readonly header: RankFileHeader;
  readonly layout: HeaderLayout;
}

export function readHeader(source: ByteSource, problems: Problems): ParsedHeader {
  const bytes = source.read(0, format.HEADER_BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const fail = (fault: Omit<RankFileFault, 'path'>): never => {
    throw new RankFileError({ path: source.path, ...fault });
  };
  checkReadable(source, bytes, view, fail);
  checkSizes(view, fail);
  checkClock(view, fail);
  return { header: toHeader(bytes, view, problems), layout: toLayout(view) };
}

type Fail = (fault: Omit<RankFileFault, 'path'>) => never;

function checkReadable(source: ByteSource, bytes: Uint8Array, view: DataView, fail: Fail): void {
  if (bytes.length === 0)
    fail({ what: 'the file is empty', why: 'the disk was full or the copy failed', advice: COPY_AGAIN });
  checkMagic(source, bytes);
  if (bytes.length < format.HEADER_BYTES)
    fail({
      what: 'the file ends inside its header',
      offset: bytes.length,
      expected: format.HEADER_BYTES,
      found: bytes.length,
      why: 'the copy was cut short',
      advice: COPY_AGAIN,
    });
  checkByteOrder(view, fail);
  checkVersion(view, fail);
  checkLife(view, fail);
  checkCrc(bytes, view, fail);
}

function checkByteOrder(view: DataView, fail: Fail): void {
  const mark = view.getUint32(H.endianMark, true);
  if (mark === format.ENDIAN_MARK) return;
  const swapped = view.getUint32(H.endianMark, false) === format.ENDIAN_MARK;
  fail({
    what: swapped ? 'written in big-endian byte order' : 'the mark of its byte order is damaged',
    offset: H.endianMark,
    expected: hex(format.ENDIAN_MARK),
    found: hex(mark),
    why: swapped ? 'a recorder on a big-endian machine, which does not exist yet' : 'the file was damaged',
    advice: swapped ? 'read it with the tools of the machine that wrote it' : COPY_AGAIN,
  });
}

function checkVersion(view: DataView, fail: Fail): void {
  const needed = view.getUint16(H.readerVersion, true);
  if (needed >= 1 && needed <= format.READER_VERSION) return;
  fail({
    what: needed === 0 ? 'its format version is damaged' : 'its format is newer than this program',
    offset: H.readerVersion,
    expected: `version ${format.READER_VERSION} or older`,
    found: `version ${needed}`,
    advice: needed === 0 ? COPY_AGAIN : NEWEST_READER,
  });
}

function checkLife(view: DataView, fail: Fail): void {
  if (view.getUint32(H.life, true) !== format.Life.Creating) return;
  fail({
    what: 'the recorder had not finished creating it',
    offset: H.life,
    why: 'the job ended, or the copy was made, within the first moments of the run',
    advice: 'copy it again if the job still runs, else leave it out: it holds no records',
  });
}

function checkCrc(bytes: Uint8Array, view: DataView, fail: Fail): void {
  const fixed = bytes.slice(0, format.HEADER_FIXED_BYTES);
  fixed.fill(0, H.headerCrc, H.headerCrc + 4);
  const expected = crc32(fixed);
  const found = view.getUint32(H.headerCrc, true);
  if (expected === found) return;
  fail({
    what: "the header's check does not match",
    offset: H.headerCrc,
    expected: hex(expected),
    found: hex(found),
    why: 'the file was damaged on its way or on its disk',
    advice: COPY_AGAIN,
  });
}

/** Writes into a header that its rings are in this file. */
export function sayInFile(view: DataView): void {
  view.setUint32(H.placement, format.Placement.InFile, true);
  view.setUint32(H.copyIntervalMs, 0, true);
  view.setBigUint64(H.copiedTick, 0n, true);
}

/** Writes the check of what the header says now. */
export function seal(header: Uint8Array, view: DataView): void {
  view.setUint32(H.headerCrc, 0, true);
  view.setUint32(H.headerCrc, crc32(header.subarray(0, format.HEADER_FIXED_BYTES)), true);
}

/** If the CRC is right, only another writer can cause wrong sizes. Still, no size is used unchecked. */
function checkSizes(view: DataView, fail: Fail): void {
  const wrong = (what: string, offset: number, expected: string | number, found: number): never =>
    fail({ what, offset, expected, found, why: 'another program wrote it', advice: NEWEST_READER });
  const headerBytes = view.getUint32(H.headerBytes, true);
  const slotBytes = view.getUint32(H.slotBytes, true);
  if (headerBytes !== format.HEADER_BYTES)
    wrong('unknown header size', H.headerBytes, format.HEADER_BYTES, headerBytes);
  if (slotBytes !== format.SLOT_BYTES) wrong('unknown slot size', H.slotBytes, format.SLOT_BYTES, slotBytes);
}

/** All times are computed from the clock's values. If they are impossible, the file has no usable time. */
function checkClock(view: DataView, fail: Fail): void {
  for (const [field, what] of CLOCK_FIELDS) {
    const { min, max } = HEADER_RANGES[field];
    const found = view.getBigUint64(H[field], true);
    if (!isIn({ min, max }, found))
      fail({
        what: `${what} cannot be true`,
        offset: H[field],
        expected: `${min} to ${max}`,
        found,
        why: 'another program wrote it',
        advice: 'leave it out; it has no usable time',
      });
  }
}

const CLOCK_FIELDS = [
  ['tickHz', 'the frequency of its counter'],
  ['startRealtime', 'the wall clock at its start'],
  ['startMonotonic', 'the monotonic clock at its start'],
] as const;

function toLayout(view: DataView): HeaderLayout {
  return {
    areaCount: view.getUint32(H.areaCount, true),
    directoryOffset: Number(view.getBigUint64(H.directoryOffset, true)),
    chunksOffset: Number(view.getBigUint64(H.chunksOffset, true)),
    chunksBegin: Number(view.getBigUint64(H.chunksBegin, true)),
  };
}

function toHeader(bytes: Uint8Array, view: DataView, problems: Problems): RankFileHeader {
  const u32 = (offset: number): number => view.getUint32(offset, true);
  const u64 = (offset: number): bigint => view.getBigUint64(offset, true);
  /** An impossible value is read as 0 and counted. */
  const wide = (field: RangedHeaderField): bigint => {
    const value = u64(H[field]);
    if (isIn(HEADER_RANGES[field], value)) return value;
    problems.add(`header: ${snakeCase(field)} cannot be true, read as 0`);
    return 0n;
  };
  const number = (field: RangedHeaderField): number => Number(wide(field));
  const rankOf = (field: 'rank' | 'worldSize' | 'localRank'): number | null => {
    const value = view.getInt32(H[field], true);
    if (isIn(HEADER_RANGES[field], BigInt(value))) return value < 0 ? null : value;
    problems.add(`header: ${snakeCase(field)} cannot be true, read as unknown`);
    return null;
  };
  const text = (field: keyof typeof format.TEXT_BYTES): string =>
    readText(bytes.subarray(H[field], H[field] + format.TEXT_BYTES[field]));
  const frame = frameOf({ tickBase: u64(H.startTick), tickHz: number('tickHz') });
  const sampleEvery = number('sampleEvery');
  const placement = named(placements, u32(H.placement), 'placement', problems);
  return {
    writerVersion: view.getUint16(H.writerVersion, true),
    readerVersion: view.getUint16(H.readerVersion, true),
    tag: u64(H.tag),
    process: {
      bootId: Buffer.from(bytes.subarray(H.bootId, H.bootId + 16)).toString('hex'),
      pidNamespace: u64(H.pidNamespace),
      pid: u32(H.pid),
      startTime: u64(H.processStart),
    },
    tickSource: tickSource(u32(H.tickSource)),
    tickHz: number('tickHz'),
    tickBase: frame.base,
    startRealtime: u64(H.startRealtime),
    startMonotonic: u64(H.startMonotonic),
    rank: rankOf('rank'),
    worldSize: rankOf('worldSize'),
    localRank: rankOf('localRank'),
    mode: named(modes, u32(H.mode), 'mode', problems),
    eventMask: number('eventMask'),
    maskNow: number('maskNow'),
    sampleEvery,
    ringBytes: number('ringBytes'),
    maxBytes: number('maxBytes'),
    placement,
    copyIntervalMs: u32(H.copyIntervalMs),
    snapshotRealtime: wide('snapshotRealtime') || null,
    hostName: text('hostName'),
    runId: text('runId'),
    ncclHostId: text('ncclHostid'),
    program: text('program'),
    gpu: text('gpu'),
    recorderVersion: text('recorderVersion'),
    ncclVersion: ncclVersion(u32(H.ncclVersion)),
    ringPath: text('ringPath'),
    options: text('options'),
    life: named(lives, u32(H.life), 'life', problems),
    copiedTick: placement === 'in-file' ? null : tickOf(view, 'copiedTick', frame, problems),
    communicatorsLost: number('communicatorsLost'),
    stringsLost: number('stringsLost'),
    leasesLost: number('leasesLost'),
    threadsOverflowed: number('threadsOverflowed'),
    ioErrors: number('ioErrors'),
    controlAnswered: number('controlAnswered'),
    controlRefused: number('controlRefused'),
    sampleNow: number('sampleNow') || sampleEvery,
    hasChanged: u64(H.changedTick) !== 0n,
    changedTick: tickOf(view, 'changedTick', frame, problems),
  };
}

/** 23007 is 2.30.7. */
const ncclVersion = (code: number): string | null =>
  code === 0 ? null : [Math.floor(code / 10_000), Math.floor(code / 100) % 100, code % 100].join('.');

function tickOf(
  view: DataView,
  field: 'copiedTick' | 'changedTick',
  frame: TickFrame,
  problems: Problems,
): Ticks | null {
  const raw = view.getBigUint64(H[field], true);
  if (raw === 0n) return null;
  const sinceStart = raw < frame.base ? null : tickIn(frame, raw);
  if (sinceStart !== null) return sinceStart;
  problems.add(`header: ${snakeCase(field)} cannot be true, read as 0`);
  return null;
}

/** The field's name in schemas/rank-file.md. */
const snakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const lives = new Map<number, Life>([
  [format.Life.Recording, 'recording'],
  [format.Life.Closed, 'closed'],
]);
const modes = new Map<number, Mode>([
  [format.Mode.Flight, 'flight'],
  [format.Mode.Stream, 'stream'],
]);
const placements = new Map<number, Placement>([
  [format.Placement.InFile, 'in-file'],
  [format.Placement.InRingFile, 'in-ring-file'],
  [format.Placement.InMemory, 'in-memory'],
]);
export const tickSource = (source: number): TickSource => tickSources.get(source) ?? `unknown (${source})`;

const tickSources = new Map<number, TickSource>([
  [format.TickSource.TickTsc, 'tsc'],
  [format.TickSource.TickCntvct, 'cntvct'],
  [format.TickSource.TickMonotonic, 'monotonic'],
]);

/** An unknown number is read as the map's first entry, which promises least. It is counted. */
function named<Name extends string>(
  names: ReadonlyMap<number, Name>,
  value: number,
  field: string,
  problems: Problems,
): Name {
  const name = names.get(value);
  if (name !== undefined) return name;
  const first = [...names.values()][0]!;
  problems.add(`header: ${field} ${value} is unknown, read as ${first}`);
  return first;
}

function readText(field: Uint8Array): string {
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString('utf8');
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`;
