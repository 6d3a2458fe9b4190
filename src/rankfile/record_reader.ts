/**
 * Checks the slots of one ring and its chunks, makes records of them segment by segment, and counts them. The kernel does it
 * (src/kernel/host/kernel_file.ts).
 */

import type { Ticks } from '../base/time.js';
import type { RingChunk } from './chunk_index.js';
import type { Payload } from './chunk_payload.js';
import type { Stretch } from './slots.js';
import type { TickFrame } from './tick_frame.js';
import type { FileFacts, OpenFold, RecordColumns, RingFacts } from './file_types.js';

/** What a ring says of itself. */
export type RingItself = Omit<RingFacts, 'chunks' | 'tornSlots'>;

/** A ring's own slots in the file. */
export interface RingBytes {
  /** As many as the file has of the ring's capacity. */
  readonly slots: number;
  /** Reads them. `into`: memory for them, which may be used for the result. */
  readonly read: (into: Uint8Array) => Uint8Array;
}

/** Positions [from, end) without a record, and the ticks of the records before and after it; null: there is none. */
export interface TimedHole {
  readonly from: number;
  readonly end: number;
  readonly afterTick: Ticks | null;
  readonly beforeTick: Ticks | null;
}

export interface ReadRecords<Segment> {
  /** Valid until the next segment of this ring is read. null: there is no record in it. */
  readonly segment: Segment | null;
  /** The holes before a record of this segment. */
  readonly holes: readonly TimedHole[];
}

/** Complete when all records have been read. */
export interface RecordCounts {
  /** By kind. */
  readonly kinds: Uint32Array;
  /** Complete records with too few slots for their kind. Their positions are a hole. */
  readonly tooShort: number;
  /** Records with a tick before the file's start. They get the start's tick. */
  readonly early: number;
  /** Records with an impossible tick or count. Their positions are a hole. */
  readonly impossible: number;
}

/** Checked slots of a ring, or of a chunk. Those of a chunk are valid until the next chunk of the ring. */
export interface SlotPlaces {
  readonly count: number;
  /** The position of the slot at an index; negative: it has none. */
  positionAt(index: number): number;
  /** Valid slots at consecutive indices with consecutive positions, by position. Of a chunk: only those that the chunk is read for. */
  stretches(): readonly Stretch[];
}

export interface RecordReader<Segment> {
  /** The ring's own slots. */
  readonly ring: SlotPlaces & { readonly tornSlots: number };
  /**
   * Checks the chunk. `payload` null: the chunk cannot be used. If a slot is invalid in the chunk, it is taken from the ring,
   * if the ring still has it. `bad`: number of invalid slots.
   */
  openChunk(chunk: RingChunk, payload: Payload | null): SlotPlaces & { readonly bad: number };
  /** `order`: slots of the ring or of its newest chunk, SEGMENT_SLOTS at most. None is before the slots so far. */
  read(places: SlotPlaces, order: readonly Stretch[]): ReadRecords<Segment>;
  /** One past the newest record's last slot. */
  readonly covered: number;
  /** Tick of the newest record; null: none. */
  readonly lastTick: Ticks | null;
  counts(): RecordCounts;
  /** The folds of this ring without those that the segment has a record of. */
  withoutRecorded(folds: readonly OpenFold[], segment: Segment): readonly OpenFold[];
  /** All segments have been read, and the newest is no longer in use. */
  release(): void;
}

/** Makes the records of one file: tables first, then `begin`, then rings. After `close` nothing of it may be used. */
export interface FileRecords {
  /** A table's slots are valid until the next table is read. */
  table(frame: TickFrame, area: Pick<RingItself, 'capacity' | 'head'>, bytes: RingBytes): TableReader;
  begin(file: Pick<FileFacts, 'path' | 'bytes' | 'header' | 'communicators' | 'strings'>): void;
  columns(ring: RingItself, bytes: RingBytes): RecordReader<RecordColumns>;
  close(): void;
}

export type TableReader = Pick<RecordReader<RecordColumns>, 'ring' | 'read' | 'counts' | 'release'>;
