/**
 * The directory: one entry per area. It has no check of its own, so every entry is checked against the file before use: sizes are powers of
 * two, areas are after the header and do not overlap. An impossible entry is left out and counted. An area that reaches beyond the end of
 * the file is cut short.
 */

import { RankFileError } from '../base/errors.js';
import * as format from './format/constants.js';
import type { ByteSource } from './byte_source.js';
import type { HeaderLayout } from './header.js';
import type { Problems } from './problems.js';
import type { RingClass } from './file_types.js';

/** Slots of one area: half of what 24 stored bits of a position can distinguish. */
export const MAX_CAPACITY = 2 ** 23;
export const MAX_AREAS = 4096;
const DIRECTORY_ALIGNMENT = 8;
/** Offsets are exact up to here. */
const MAX_OFFSET = 2 ** 53;
export const MAX_FOLDS = 2 ** 20;

export type TableClass = 'communicators' | 'strings' | 'leases' | 'heartbeat' | 'clock' | 'control';

export interface Area {
  /** Index in the directory. For a ring, also its number in handles. */
  readonly index: number;
  readonly ring: RingClass | null;
  readonly table: TableClass | null;
  readonly capacity: number;
  readonly liveOffset: number;
  readonly foldsOffset: number;
  readonly slotsOffset: number;
  readonly foldCapacity: number;
}

const rings = new Map<number, RingClass>([
  [format.AreaClass.RingSteps, 'steps'],
  [format.AreaClass.RingOps, 'ops'],
  [format.AreaClass.RingHost, 'host'],
  [format.AreaClass.RingOverflow, 'overflow'],
]);
const tables = new Map<number, TableClass>([
  [format.AreaClass.TableCommunicators, 'communicators'],
  [format.AreaClass.TableStrings, 'strings'],
  [format.AreaClass.TableLeases, 'leases'],
  [format.AreaClass.TableHeartbeat, 'heartbeat'],
  [format.AreaClass.TableClock, 'clock'],
  [format.AreaClass.TableControl, 'control'],
]);

export interface Directory {
  readonly areas: readonly Area[];
  /** Unusable entries of known classes. */
  readonly lost: number;
}

export function readDirectory(source: ByteSource, layout: HeaderLayout, problems: Problems): Directory {
  const { areaCount, directoryOffset } = layout;
  const end = directoryEnd(layout);
  if (areaCount > MAX_AREAS || directoryOffset < format.HEADER_BYTES) throw impossible(source, layout);
  if (directoryOffset % DIRECTORY_ALIGNMENT !== 0) throw impossible(source, layout);
  if (end > source.bytes) throw cutShort(source, end);
  const bytes = source.read(directoryOffset, end - directoryOffset);
  if (bytes.length < end - directoryOffset) throw cutShort(source, end);

  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const areas: Area[] = [];
  let known = 0;
  for (let index = 0; index < areaCount; index++) {
    const area = toArea(view, index);
    const areaClass = view.getUint32(index * format.AREA_ENTRY_BYTES, true);
    // The recorder writes all entries before it records: one of zeros was damaged.
    if (area.ring === null && area.table === null && areaClass !== 0) {
      problems.add(`areas of unknown class ${areaClass}, skipped`);
      continue;
    }
    known++;
    if (areaClass !== 0 && isPossible(area, layout)) areas.push(area);
    else problems.add('directory entries that cannot be true, skipped: the file was damaged');
  }
  const used = withoutOverlaps(areas, problems);
  return { areas: used, lost: known - used.length };
}

function toArea(view: DataView, index: number): Area {
  const at = index * format.AREA_ENTRY_BYTES;
  const E = format.AREA_ENTRY;
  const areaClass = view.getUint32(at + E.areaClass, true);
  const offset = (field: number): number => Number(view.getBigUint64(at + field, true));
  return {
    index,
    ring: rings.get(areaClass) ?? null,
    table: tables.get(areaClass) ?? null,
    capacity: view.getUint32(at + E.capacity, true),
    liveOffset: offset(E.liveOffset),
    foldsOffset: offset(E.foldsOffset),
    slotsOffset: offset(E.slotsOffset),
    foldCapacity: view.getUint32(at + E.foldCapacity, true),
  };
}

const directoryEnd = ({ directoryOffset, areaCount }: HeaderLayout): number =>
  directoryOffset + areaCount * format.AREA_ENTRY_BYTES;
const isPowerOfTwo = (value: number): boolean => value > 0 && (value & (value - 1)) === 0;

type Extent = readonly [from: number, end: number];

function extents(area: Area): Extent[] {
  const live: Extent = [area.liveOffset, area.liveOffset + format.AREA_LIVE_BYTES];
  const slots: Extent = [area.slotsOffset, area.slotsOffset + area.capacity * format.SLOT_BYTES];
  if (area.foldCapacity === 0) return [live, slots];
  return [live, [area.foldsOffset, area.foldsOffset + area.foldCapacity * format.FOLD_BYTES], slots];
}

function isPossible(area: Area, layout: HeaderLayout): boolean {
  if (!isPowerOfTwo(area.capacity) || area.capacity > MAX_CAPACITY) return false;
  if (area.foldCapacity !== 0 && (!isPowerOfTwo(area.foldCapacity) || area.foldCapacity > MAX_FOLDS))
    return false;
  if (area.ring !== null && area.index >= format.MAX_RINGS) return false;
  const first = directoryEnd(layout);
  const last = Math.min(layout.chunksOffset || MAX_OFFSET, MAX_OFFSET);
  return extents(area).every(([from, end]) => from % format.SLOT_BYTES === 0 && from >= first && end <= last);
}

/** Whether the file ends before the area does. */
export const isCut = (area: Area, bytes: number): boolean => extents(area).some(([, end]) => end > bytes);

/** If two entries overlap, the wrong one is not known. Neither is used, because no slot may be in two rings. */
function withoutOverlaps(areas: readonly Area[], problems: Problems): Area[] {
  const all = areas.flatMap((area) => extents(area).map((extent) => ({ area, extent })));
  all.sort((a, b) => a.extent[0] - b.extent[0]);
  const bad = new Set<Area>();
  let widest = all[0];
  for (const next of all.slice(1)) {
    if (widest !== undefined && next.extent[0] < widest.extent[1]) {
      bad.add(widest.area);
      bad.add(next.area);
    }
    if (widest === undefined || next.extent[1] > widest.extent[1]) widest = next;
  }
  problems.add('directory entries that overlap, skipped: the file was damaged', bad.size);
  return areas.filter((area) => !bad.has(area));
}

function cutShort(source: ByteSource, needed: number): RankFileError {
  return new RankFileError({
    path: source.path,
    what: 'the file ends inside its directory',
    offset: source.bytes,
    expected: needed,
    found: source.bytes,
    why: 'the copy was cut short',
    advice: 'copy it again (a live file may be copied at any time)',
  });
}

function impossible(source: ByteSource, layout: HeaderLayout): RankFileError {
  return new RankFileError({
    path: source.path,
    what: `a directory of ${layout.areaCount} areas at byte ${layout.directoryOffset} cannot be true`,
    offset: format.FILE_HEADER.areaCount,
    why: 'another program wrote it',
    advice: 'update nccl-trace',
  });
}
