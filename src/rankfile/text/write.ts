/**
 * Writes a rank file from its text: tables, rings, and chunks as they stand in the text, laid out as the recorder lays them out. Chunks are written
 * uncompressed. What says where things lie, and all checks, are made anew.
 */

import { closeSync, ftruncateSync, openSync } from 'node:fs';
import { maxOf, minOf } from '../../base/extremes.js';
import * as format from '../format/constants.js';
import { crc32 } from '../format/crc32.js';
import { foldKey } from '../format/handle.js';
import { writeAll } from '../copy.js';
import { sealHeader } from './header_text.js';
import { MAX_CAPACITY, MAX_FOLDS } from '../directory.js';
import { LineFault } from './line.js';
import { type TextArea, type TextChunk, type TextFile, wrongText } from './parse.js';
import { isRing } from './print.js';

const { AREA_ENTRY: E, AREA_LIVE: L, CHUNK_HEADER: C, FOLD: F } = format;
/** Of a ring that a text does not give a size. Readers take no other sizes than powers of two. */
const LEAST_CAPACITY = 8;

/** `to` must not exist. Throws RankFileError if something of the text has no place, and the system's errors. */
export function writeTextFile(file: TextFile, to: string): void {
  try {
    write(file, to);
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    throw wrongText(file.path, `${file.name} cannot be made: ${error.message}`);
  }
}

function write(file: TextFile, to: string): void {
  const areas = placed(file);
  const last = maxOf(
    areas.map(({ end }) => end),
    directoryEnd(areas.length),
  );
  const border = align(last, format.CHUNK_ALIGNMENT);
  const out = openSync(to, 'wx', 0o600);
  try {
    ftruncateSync(out, border);
    let end = border;
    for (const chunk of file.chunks) {
      const bytes = chunkBytes(chunk);
      writeAll(out, bytes, end);
      end = align(end + bytes.length, format.CHUNK_ALIGNMENT);
      ftruncateSync(out, end);
      const own = file.areas.find(({ index }) => index === chunk.area);
      for (const { from, end: to } of own?.also ?? []) chunk.slots.copyTo(own!.slots, from, to);
    }
    for (const area of areas) writeArea(out, area);
    const header = file.header.bytes();
    sealHeader(header, { areaCount: areas.length, chunksOffset: border, end });
    writeAll(out, directory(areas), format.HEADER_BYTES);
    writeAll(out, header, 0);
    const cuts = areas.flatMap(({ area, live }) => (area.cut === undefined ? [] : [live + area.cut]));
    if (cuts.length > 0) ftruncateSync(out, minOf(cuts, border));
  } finally {
    closeSync(out);
  }
}

interface Placed {
  readonly area: TextArea;
  readonly capacity: number;
  readonly foldCapacity: number;
  readonly live: number;
  readonly folds: number;
  readonly slots: number;
  readonly end: number;
}

const align = (offset: number, to: number): number => Math.ceil(offset / to) * to;
const directoryEnd = (areas: number): number => format.HEADER_BYTES + areas * format.AREA_ENTRY_BYTES;

/** In the order of the directory. In the file, tables lie before rings, and areas that it ends before lie behind the one in which it ends. */
function placed({ areas }: TextFile): Placed[] {
  let at = directoryEnd(areas.length);
  const place = ({ areaClass, cut }: TextArea): number =>
    (cut === undefined ? 0 : cut > 0 ? 2 : 4) + Number(isRing(areaClass));
  const inFile = [...areas].sort((a, b) => place(a) - place(b));
  const all = inFile.map((area): Placed => {
    const capacity = area.capacity ?? usualCapacity(area);
    const foldCapacity = area.foldCapacity ?? (area.folds.length > 0 ? powerOfTwo(area.folds.length) : 0);
    checkSize(area, capacity, foldCapacity);
    const live = align(at, format.AREA_ALIGNMENT);
    const folds = live + format.AREA_LIVE_BYTES;
    const slots = align(folds + foldCapacity * format.FOLD_BYTES, format.AREA_ALIGNMENT);
    at = slots + capacity * format.SLOT_BYTES;
    return { area, capacity, foldCapacity, live, folds, slots, end: at };
  });
  return all.sort((a, b) => a.area.index - b.area.index);
}

function checkSize({ index, isUsable }: TextArea, capacity: number, foldCapacity: number): void {
  const isPossible =
    capacity > 0 && capacity <= MAX_CAPACITY && foldCapacity >= 0 && foldCapacity <= MAX_FOLDS;
  if (isUsable && !isPossible)
    throw new LineFault(`area ${index} has ${MAX_CAPACITY} slots and ${MAX_FOLDS} folds at most`);
}

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

function usualCapacity({ slots, also, isUsable }: TextArea): number {
  if (!isUsable) return 0;
  return powerOfTwo(
    maxOf(
      also.map(({ end }) => end),
      Math.max(LEAST_CAPACITY, slots.newest),
    ),
  );
}

function directory(areas: readonly Placed[]): Uint8Array {
  const entries = new DataView(new ArrayBuffer(areas.length * format.AREA_ENTRY_BYTES));
  areas.forEach(({ area, capacity, foldCapacity, live, folds, slots }, i) => {
    const at = i * format.AREA_ENTRY_BYTES;
    entries.setUint32(at + E.areaClass, area.areaClass, true);
    entries.setUint32(at + E.capacity, area.isUsable ? capacity : 0, true); // which no reader takes
    entries.setBigUint64(at + E.liveOffset, BigInt(live), true);
    entries.setBigUint64(at + E.foldsOffset, BigInt(folds), true);
    entries.setBigUint64(at + E.slotsOffset, BigInt(slots), true);
    entries.setUint32(at + E.foldCapacity, foldCapacity, true);
    entries.setUint32(at + E.clockIntervalMs, area.interval, true);
  });
  return new Uint8Array(entries.buffer);
}

function writeArea(out: number, { area, capacity, foldCapacity, live, folds, slots }: Placed): void {
  if (!area.isUsable) return;
  const counters = new DataView(new ArrayBuffer(format.AREA_LIVE_BYTES));
  counters.setBigUint64(L.head, BigInt(area.slots.newest), true);
  for (const [name, count] of area.counters) counters.setBigUint64(L[name], count, true);
  writeAll(out, new Uint8Array(counters.buffer), live);
  writeAll(out, foldBytes(area, foldCapacity), folds);
  for (const { index, bytes } of area.slots.runs(capacity, (position) => position % capacity))
    writeAll(out, bytes, slots + index * format.SLOT_BYTES);
}

function foldBytes({ folds }: TextArea, capacity: number): Uint8Array {
  if (folds.length > capacity) throw new LineFault(`${folds.length} folds have no place among ${capacity}`);
  const bytes = new DataView(new ArrayBuffer(capacity * format.FOLD_BYTES));
  folds.forEach(({ handle, state, count, lastTick, key }, i) => {
    const at = i * format.FOLD_BYTES;
    const control = BigInt(count) | (BigInt(state) << 32n) | (BigInt(key ?? foldKey(handle)) << 48n);
    bytes.setBigUint64(at + F.handle, handle, true);
    bytes.setBigUint64(at + F.lastTick, lastTick, true);
    bytes.setBigUint64(at + F.control, control, true);
  });
  return new Uint8Array(bytes.buffer);
}

/** The header and the slots. An unusable one gets a check of its payload that is wrong. */
function chunkBytes(chunk: TextChunk): Uint8Array {
  const { area, sequence, from, end, isUsable, slots } = chunk;
  const payload = new Uint8Array((end - from) * format.SLOT_BYTES);
  for (const run of slots.runs(end - from, (position) => position - from))
    payload.set(run.bytes, run.index * format.SLOT_BYTES);
  const bytes = new Uint8Array(format.CHUNK_HEADER_BYTES + payload.length);
  const header = new DataView(bytes.buffer);
  header.setUint32(C.magic, format.CHUNK_MAGIC, true);
  header.setUint16(C.codec, format.Codec.Raw, true);
  header.setUint16(C.area, area, true);
  header.setBigUint64(C.firstPosition, BigInt(from), true);
  header.setBigUint64(C.endPosition, BigInt(end), true);
  const ticks = slots.ticks();
  header.setBigUint64(C.firstTick, chunk.firstTick ?? ticks.first, true);
  header.setBigUint64(C.lastTick, chunk.lastTick ?? ticks.last, true);
  header.setBigUint64(C.sequence, BigInt(sequence), true);
  header.setUint32(C.rawBytes, payload.length, true);
  header.setUint32(C.storedBytes, payload.length, true);
  header.setUint32(C.payloadCrc, isUsable ? crc32(payload) : ~crc32(payload) >>> 0, true);
  header.setUint32(C.headerCrc, crc32(bytes.subarray(0, format.CHUNK_HEADER_BYTES)), true);
  bytes.set(payload, format.CHUNK_HEADER_BYTES);
  return bytes;
}
