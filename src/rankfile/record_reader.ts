/** Makes the records of one ring, segment by segment, and counts them. The kernel is one implementation, columns.ts the other. */

import type { Ticks } from '../base/time.js';
import type { Stretch } from './slots.js';
import type { OpenFold } from './types.js';

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

export interface RecordReader<Segment> {
  /** `order`: valid slots in `words` (eight words per slot), by position, at most SEGMENT_SLOTS. None is before the slots so far. */
  read(words: Uint32Array, order: readonly Stretch[]): ReadRecords<Segment>;
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
