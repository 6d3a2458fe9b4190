/**
 * What the numbers of a rank file can be: one table, applied where bytes become headers, tables and records. A check
 * tells that bytes are as they were written, not that they mean anything; a number outside its range is damage of this
 * file, is counted, and never reaches what is computed for all files. schemas/rank-file.md has the same table (Limits).
 * A field that is not named here may have any value of its type.
 */

import { Kind } from './constants.js';

/** Ranks of a job or communicator. */
export const MAX_RANKS = 2 ** 20;
/** From the start of the file to any of its times. All of a trace fits into 2^53 ns, which are 104 days. */
export const MAX_DAYS = 90;
/** ns of any clock of the system: from 1970, or from boot, to the year 2116. */
const MAX_CLOCK = 2n ** 62n;
/** Nothing counts further; larger ones are not exact. */
const MAX_COUNT = 2n ** 48n;
const MAX_POSITION = 2n ** 48n;

/** Both included. */
export interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

const below = (end: bigint | number): Range => ({ min: 0n, max: BigInt(end) - 1n });
const from = (min: number, max: number): Range => ({ min: BigInt(min), max: BigInt(max) });

/** Of the header's fields; signed ones as such. A negative rank says that it is not known. */
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

/** Of the records of tables, by the names of their layouts. Ticks have a range of their own, below. */
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

/** Of a Fold record. The high half of the word must be 0, which is all that the decoders look at. */
export const MAX_REPEATS = 2 ** 32 - 1;

/** A tick relative to the start of the file is no further from it, either way. Earlier ones are counted, and used. */
export const farthestTick = (tickHz: number): number => MAX_DAYS * 86_400 * tickHz;

export const isIn = ({ min, max }: Range, value: bigint): boolean => value >= min && value <= max;
