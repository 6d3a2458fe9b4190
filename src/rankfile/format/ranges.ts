/**
 * Ranges of a rank file's numbers. They are checked where bytes become headers, tables and records, because a CRC only proves that the
 * bytes were written so, not that they make sense. A number outside its range is damage of this file. It is counted and not used for other
 * files. schemas/rank-file.md has the same table (Limits). A field without an entry may have any value of its type.
 */

import { Kind } from './constants.js';

/** Ranks of a job or communicator. */
export const MAX_RANKS = 2 ** 20;
/** Between the start of the file and any of its times. All of a trace fits into 2^53 ns, which is 104 days. */
export const MAX_DAYS = 90;
/** ns of any clock of the system: from 1970, or from boot, to the year 2116. */
const MAX_CLOCK = 2n ** 62n;
/** No count is larger; larger numbers are not exact. */
const MAX_COUNT = 2n ** 48n;
const MAX_POSITION = 2n ** 48n;

/** Both inclusive. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

const below = (end: bigint | number): Range => ({ min: 0n, max: BigInt(end) - 1n });
const from = (min: number, max: number): Range => ({ min: BigInt(min), max: BigInt(max) });

/** Ranges of the header's fields; signed where needed. A negative rank is not known. */
export const HEADER_RANGES = {
  tickHz: from(1e5, 1e11),
  startRealtime: { min: 1n, max: MAX_CLOCK - 1n },
  startMonotonic: below(MAX_CLOCK),
  rank: from(-(2 ** 31), MAX_RANKS - 1),
  worldSize: from(-(2 ** 31), MAX_RANKS),
  localRank: from(-(2 ** 31), MAX_RANKS - 1),
  eventMask: below(2 ** 32),
  sampleEvery: from(1, 2 ** 31 - 1),
  ringBytes: below(MAX_COUNT),
  maxBytes: below(2n ** 53n),
  snapshotRealtime: below(MAX_CLOCK),
  maskNow: below(2 ** 32),
  communicatorsLost: below(MAX_COUNT),
  stringsLost: below(MAX_COUNT),
  leasesLost: below(MAX_COUNT),
  threadsOverflowed: below(MAX_COUNT),
  ioErrors: below(MAX_COUNT),
  controlAnswered: below(2 ** 32),
  controlRefused: below(MAX_COUNT),
  sampleNow: below(2 ** 31),
} as const satisfies Record<string, Range>;
export type RangedHeaderField = keyof typeof HEADER_RANGES;

/** For the records of tables, by layout name. Ticks have their own range below. */
export const TABLE_RANGES: ReadonlyMap<number, Readonly<Record<string, Range>>> = new Map([
  [
    Kind.Communicator,
    { rank: from(-1, MAX_RANKS - 1), nRanks: from(0, MAX_RANKS), nNodes: from(0, MAX_RANKS) },
  ],
  [
    Kind.ClockSample,
    {
      realtime: { min: 1n, max: MAX_CLOCK - 1n },
      monotonic: below(MAX_CLOCK),
      boottime: below(MAX_CLOCK),
      width: below(MAX_COUNT),
    },
  ],
  [Kind.Lease, { position: below(MAX_POSITION) }],
  [Kind.LeaseEnd, { position: below(MAX_POSITION) }],
  [Kind.ControlChange, { sampleEvery: from(1, 2 ** 31 - 1) }],
]);

/** Counters of an area; its head is a position. */
export const AREA_COUNT_LIMIT = MAX_COUNT;

/** Limit of a Fold record. The high half of the word must be 0; the decoders check only that. */
export const MAX_REPEATS = 2 ** 32 - 1;

/** Largest distance of a tick from the file's start, both ways. Earlier ticks are counted and used. */
export const farthestTick = (tickHz: number): number => MAX_DAYS * 86_400 * tickHz;

export const isIn = ({ min, max }: Range, value: bigint): boolean => value >= min && value <= max;
