/**
 * Makes rank files of one machine look like files of several hosts. Each gets another boot id and host name, a counter with
 * another start and rate, and a wall clock of its own. The recorded events do not change, so the truth is known. The rings
 * must be in the file. The chunks of a stream file are compressed and do not change, so its counter cannot be skewed.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { assert } from '../../../src/base/assert.js';
import * as format from '../../../src/rankfile/format/constants.js';
import { crc32 } from '../../../src/rankfile/format/crc32.js';
import { metaHigh, slotCheck, word3High } from '../../../src/rankfile/format/slot.js';
import { openRankFile } from '../../../src/rankfile/index.js';
import { positionsIn } from '../rank_files/slot_positions.js';
import type { RecordColumns } from '../../../src/rankfile/file_types.js';
import { u64 } from '../../../src/rankfile/field_values.js';

export interface Skew {
  readonly hostName: string;
  /** 32 hex digits. */
  readonly bootId: string;
  /** New counter = origin + offset + (old counter - origin) * (1 + ppm * 1e-6). */
  readonly offsetTicks: number;
  readonly ppm: number;
  /** Error of the wall clock, in ns, at this many ns after `origin`. */
  readonly wallError?: (ns: number) => number;
}

const { Kind, AreaClass, FILE_HEADER: H, AREA_ENTRY, AREA_LIVE } = format;

/** `origin`: one counter value for all files of the machine, near the start of the run. */
export function skewFile(source: string, target: string, skew: Skew, origin: bigint): void {
  const bytes = new Uint8Array(readFileSync(source));
  skewBytes(bytes, skew, origin);
  writeFileSync(target, bytes);
}

export function startTick(path: string): bigint {
  const bytes = readFileSync(path);
  return bytes.readBigUInt64LE(H.startTick);
}

/** How a file's times change. */
interface Shift {
  /** Of the file's own counter. */
  readonly tick: (tick: bigint) => bigint;
  /** Error of the file's wall clock at a tick, ns. */
  readonly wall: (tick: bigint) => bigint;
}

function skewBytes(bytes: Uint8Array, skew: Skew, origin: bigint): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isStream = view.getUint32(H.mode, true) === format.Mode.Stream;
  assert(!isStream || (skew.offsetTicks === 0 && skew.ppm === 0), 'a stream file keeps its counter');
  const hz = Number(view.getBigUint64(H.tickHz, true));
  const shift: Shift = {
    tick: (tick) => {
      const since = Number(tick - origin);
      return origin + BigInt(Math.round(skew.offsetTicks + since + since * skew.ppm * 1e-6));
    },
    wall: (tick) => BigInt(Math.round(skew.wallError?.((Number(tick - origin) * 1e9) / hz) ?? 0)),
  };
  const areas = view.getUint32(H.areaCount, true);
  const directory = Number(view.getBigUint64(H.directoryOffset, true));
  for (let i = 0; i < areas; i++) {
    const entry = directory + i * format.AREA_ENTRY_BYTES;
    skewSlots(bytes, view, entry, shift);
    skewFolds(view, entry, shift);
  }
  skewHeader(bytes, view, skew, shift);
}

function skewHeader(bytes: Uint8Array, view: DataView, skew: Skew, { tick, wall }: Shift): void {
  const start = view.getBigUint64(H.startTick, true);
  add(view, H.startRealtime, wall(start));
  move(view, H.startTick, tick);
  if (view.getBigUint64(H.changedTick, true) !== 0n) move(view, H.changedTick, tick); // 0: never
  bytes.set(Buffer.from(skew.bootId, 'hex'), H.bootId);
  bytes.fill(0, H.hostName, H.hostName + format.TEXT_BYTES.hostName);
  bytes.set(Buffer.from(skew.hostName), H.hostName);
  view.setUint32(H.headerCrc, 0, true);
  view.setUint32(H.headerCrc, crc32(bytes.subarray(0, format.HEADER_FIXED_BYTES)), true);
}

function skewSlots(bytes: Uint8Array, view: DataView, entry: number, shift: Shift): void {
  const capacity = view.getUint32(entry + AREA_ENTRY.capacity, true);
  const live = Number(view.getBigUint64(entry + AREA_ENTRY.liveOffset, true));
  const slots = Number(view.getBigUint64(entry + AREA_ENTRY.slotsOffset, true));
  const head = Number(view.getBigUint64(live + AREA_LIVE.head, true));
  const copy = bytes.slice(slots, slots + capacity * format.SLOT_BYTES);
  const position = positionsIn(new Uint32Array(copy.buffer), capacity, head);
  for (let index = 0; index < capacity; index++) {
    if (position[index]! < 0) continue;
    const at = slots + index * format.SLOT_BYTES;
    const meta = view.getUint32(at + 24, true);
    skewSlot(view, at, meta & 0xff, (meta >>> 8) & 15, shift);
    sealSlot(view, at, position[index]!);
  }
}

/** Slot `part` of a record of this kind. */
function skewSlot(view: DataView, at: number, kind: number, part: number, { tick, wall }: Shift): void {
  const [word0, word1] = [at, at + 8];
  if (kind === Kind.ClockSample && part === 0) add(view, word1, wall(view.getBigUint64(word0, true)));
  if (kind === Kind.ControlChange) move(view, word1, tick); // done
  const hasTick = part === 0 || (part === 1 && kind === Kind.Fold);
  if (hasTick) move(view, word0, tick);
}

function skewFolds(view: DataView, entry: number, { tick }: Shift): void {
  const folds = Number(view.getBigUint64(entry + AREA_ENTRY.foldsOffset, true));
  const capacity = view.getUint32(entry + AREA_ENTRY.foldCapacity, true);
  for (let i = 0; i < capacity; i++) {
    const at = folds + i * format.FOLD_BYTES;
    if (view.getBigUint64(at + format.FOLD.handle, true) !== 0n) move(view, at + format.FOLD.lastTick, tick);
  }
}

function move(view: DataView, at: number, moved: (tick: bigint) => bigint): void {
  view.setBigUint64(at, moved(view.getBigUint64(at, true)), true);
}

function add(view: DataView, at: number, more: bigint): void {
  view.setBigUint64(at, view.getBigUint64(at, true) + more, true);
}

function sealSlot(view: DataView, at: number, position: number): void {
  const word = (i: number): number => view.getUint32(at + i * 4, true);
  const check = slotCheck(word(0), word(1), word(2), word(3), word(4), word(5), word(6), metaHigh(position));
  view.setUint32(at + 28, word3High(check, position), true);
}

/**
 * Damages this share of all records in rings, chosen at random. It also damages all records of this share of the ProxyOps.
 */
export function loseRecords(path: string, share: number, random: () => number): void {
  const { rings, header } = openRankFile(path);
  const handleAt = (ring: number, position: number): bigint =>
    header.tag |
    (BigInt(ring) << BigInt(format.HANDLE_RING_SHIFT)) |
    (BigInt(position) << BigInt(format.HANDLE_POSITION_SHIFT));
  const lost = new Set<bigint>();
  const isLost = (records: RecordColumns, row: number): boolean =>
    lost.has(u64(records.word1Low[row]!, records.word1High[row]!));
  const lose = (kind: number, choose: (records: RecordColumns, row: number) => boolean): void => {
    for (const { ring, records } of rings)
      for (let row = 0; row < records.length; row++)
        if (records.kind[row] === kind && choose(records, row))
          lost.add(handleAt(ring, records.position[row]!));
  };
  lose(Kind.StartProxyOp, () => random() < share);
  lose(Kind.StartProxyStep, isLost);

  const bytes = new Uint8Array(readFileSync(path));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const directory = Number(view.getBigUint64(H.directoryOffset, true));
  for (const { ring, records } of rings) {
    const entry = directory + ring * format.AREA_ENTRY_BYTES;
    const slots = Number(view.getBigUint64(entry + AREA_ENTRY.slotsOffset, true));
    const capacity = view.getUint32(entry + AREA_ENTRY.capacity, true);
    for (let row = 0; row < records.length; row++) {
      const own = handleAt(ring, records.position[row]!);
      if (random() >= share && !lost.has(own) && !isLost(records, row)) continue;
      // One damaged slot loses the whole record.
      const at = slots + (records.position[row]! % capacity) * format.SLOT_BYTES;
      view.setUint32(at + 8, ~view.getUint32(at + 8, true) >>> 0, true);
    }
  }
  writeFileSync(path, bytes);
}

/** Damages this share of all slots in rings, chosen at random. Records and whole operations are lost with them. */
export function loseSlots(path: string, share: number, random: () => number): void {
  const bytes = new Uint8Array(readFileSync(path));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const directory = Number(view.getBigUint64(H.directoryOffset, true));
  for (let i = 0; i < view.getUint32(H.areaCount, true); i++) {
    const entry = directory + i * format.AREA_ENTRY_BYTES;
    if (view.getUint32(entry + AREA_ENTRY.areaClass, true) > AreaClass.RingOverflow) continue;
    const slots = Number(view.getBigUint64(entry + AREA_ENTRY.slotsOffset, true));
    const capacity = view.getUint32(entry + AREA_ENTRY.capacity, true);
    for (let at = slots; at < slots + capacity * format.SLOT_BYTES; at += format.SLOT_BYTES) {
      if (view.getUint32(at + 24, true) !== 0 && random() < share)
        view.setUint32(at + 8, ~view.getUint32(at + 8, true) >>> 0, true);
    }
  }
  writeFileSync(path, bytes);
}
