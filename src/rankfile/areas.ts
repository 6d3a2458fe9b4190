/** Reads one area: its live counters, its checked slots, its open folds, and for a table its records. */

import * as format from './format/constants.js';
import { AREA_COUNT_LIMIT } from './format/ranges.js';
import type { ByteSource } from './byte_source.js';
import { type Area, isCut } from './directory.js';
import { readFolds } from './folds.js';
import type { Problems } from './problems.js';
import type { FileRecords, RecordCounts, RingBytes, SlotPlaces, TableReader } from './record_reader.js';
import { concatenated, copyOf } from './records.js';
import { SEGMENT_SLOTS } from './ring_stream.js';
import { pieces } from './slots.js';
import type { TickFrame } from './tick_frame.js';
import type { OpenFold, RecordColumns } from './file_types.js';

export interface AreaLive {
  readonly head: number;
  readonly folded: number;
  readonly muted: number;
  readonly nullCalls: number;
  readonly ordinalsLost: number;
}

/** A table and its records. */
export interface TableRecords {
  readonly head: number;
  readonly slots: SlotPlaces & { readonly tornSlots: number };
  readonly records: RecordColumns;
}

export class AreaReader {
  constructor(
    private readonly source: ByteSource,
    readonly frame: TickFrame,
    private readonly problems: Problems,
    /** A table's slots are valid until the next table is read. */
    private readonly made: FileRecords,
  ) {}

  isCut(area: Area): boolean {
    return isCut(area, this.source.bytes);
  }

  live(area: Area): AreaLive {
    const bytes = this.source.read(area.liveOffset, format.AREA_LIVE_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const field = (offset: number, max = Number(AREA_COUNT_LIMIT) - 1): number => {
      const value = offset + 8 <= bytes.length ? Number(view.getBigUint64(offset, true)) : 0;
      if (value <= max) return value;
      this.problems.add('heads and counters of areas that cannot be true, read as 0: the file was damaged');
      return 0;
    };
    return {
      head: field(format.AREA_LIVE.head, format.POSITION_MASK),
      folded: field(format.AREA_LIVE.folded),
      muted: field(format.AREA_LIVE.muted),
      nullCalls: field(format.AREA_LIVE.nullCalls),
      ordinalsLost: field(format.AREA_LIVE.ordinalsLost),
    };
  }

  /** The slots of an area: how many the file has, and their bytes. */
  slotBytes({ capacity, slotsOffset }: Area): RingBytes {
    const wanted = capacity * format.SLOT_BYTES;
    const there = Math.max(0, Math.min(wanted, this.source.bytes - slotsOffset));
    const read = (into: Uint8Array): Uint8Array => {
      const bytes = this.source.read(slotsOffset, wanted, into);
      if (bytes.length < wanted)
        this.problems.add('areas cut off by the end of the file: the copy was cut short');
      return bytes;
    };
    return { slots: Math.floor(there / format.SLOT_BYTES), read };
  }

  table(area: Area): TableRecords {
    const { head } = this.live(area);
    const { capacity } = area;
    const reader = this.made.table(this.frame, { capacity, head }, this.slotBytes(area));
    const records = columnsOf(reader);
    countRecords(reader.counts(), this.problems);
    return { head, slots: reader.ring, records };
  }

  folds(area: Area): OpenFold[] {
    const bytes = this.source.read(area.foldsOffset, area.foldCapacity * format.FOLD_BYTES);
    return readFolds(bytes, area.index, this.frame, this.problems);
  }
}

/** All records of a table. */
function columnsOf(reader: TableReader): RecordColumns {
  const all: RecordColumns[] = [];
  for (const piece of pieces(reader.ring.stretches(), SEGMENT_SLOTS)) {
    const { segment } = reader.read(reader.ring, piece);
    if (segment !== null) all.push(copyOf(segment));
  }
  reader.release();
  return concatenated(all);
}

export function countRecords({ tooShort, early, impossible }: RecordCounts, problems: Problems): void {
  problems.add('records shorter than their kind, skipped', tooShort);
  problems.add('records older than the start of the file', early);
  problems.add('records with an impossible time or count, left out', impossible);
}
