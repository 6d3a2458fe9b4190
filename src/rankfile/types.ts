/**
 * What the reader hands on: the facts of one rank file, and its records in columns. Plain data, no methods, so that the
 * native addon can produce the very same and a worker thread can post it.
 *
 * The format itself is schemas/rank-file.md. Here: u64 values that may exceed 2^53 are bigints where they are rare
 * (header, tables) and pairs of 32-bit halves where they are many (records). Ticks are relative to `tickBase`.
 */

import type { Ticks } from '../base/time.js';

export type Life = 'creating' | 'recording' | 'closed';
export type Mode = 'flight' | 'stream';
export type Placement = 'in-file' | 'in-ring-file' | 'in-memory';
export type TickSource = 'tsc' | 'cntvct' | 'monotonic' | `unknown (${number})`;

/** Which process wrote the file: unique over all hosts and boots. A raw pid names nothing. */
export interface ProcessIdentity {
  /** 32 hex digits. */
  readonly bootId: string;
  readonly pidNamespace: bigint;
  readonly pid: number;
  /** Clock ticks since boot (field 22 of /proc/self/stat). */
  readonly startTime: bigint;
}

export interface RankFileHeader {
  readonly writerVersion: number;
  readonly readerVersion: number;
  /** Bits 47 to 63 of every handle of this process. */
  readonly tag: bigint;
  readonly process: ProcessIdentity;
  readonly tickSource: TickSource;
  /** Nominal, in Hz; the clock samples say what it really was. */
  readonly tickHz: number;
  /** The raw counter at start; `Ticks` values are relative to it. */
  readonly tickBase: bigint;
  /** ns since the Unix epoch, at `tickBase`. */
  readonly startRealtime: bigint;
  readonly startMonotonic: bigint;
  /** By RANK and its relatives; null if the environment did not say. */
  readonly rank: number | null;
  readonly worldSize: number | null;
  readonly localRank: number | null;
  readonly mode: Mode;
  /** NCCL event-type bits asked for at init. */
  readonly eventMask: number;
  readonly maskNow: number;
  readonly sampleEvery: number;
  readonly ringBytes: number;
  readonly maxBytes: number;
  readonly placement: Placement;
  readonly copyIntervalMs: number;
  /** Of a copy: when its rings were read, ns since 1970; null: not said. */
  readonly snapshotRealtime: bigint | null;
  readonly hostName: string;
  readonly runId: string;
  readonly ncclHostId: string;
  readonly program: string;
  readonly gpu: string;
  readonly recorderVersion: string;
  readonly ringPath: string;
  readonly options: string;
  readonly life: Life;
  /** With a placement other than in-file: the rings in the file are complete up to here; null if never copied. */
  readonly copiedTick: Ticks | null;
  /** Requests to a running recorder: the last one answered, and how many were refused. */
  readonly controlAnswered: number;
  readonly controlRefused: number;
  readonly sampleNow: number;
  /** Event types or sampling were changed in mid-run: a record that is missing may not have been asked for. */
  readonly hasChanged: boolean;
  /** When that happened last; null: never. */
  readonly changedTick: Ticks | null;
  readonly communicatorsLost: number;
  readonly stringsLost: number;
  readonly leasesLost: number;
  readonly threadsOverflowed: number;
  readonly ioErrors: number;
}

export interface ClockSample {
  readonly tick: Ticks;
  /** ns since the Unix epoch. */
  readonly realtime: bigint;
  readonly monotonic: bigint;
  readonly boottime: bigint;
  /** Width of the bracket the three clocks were read in, in ticks: the sample's own uncertainty. */
  readonly width: number;
}

/** One exchange with another process about the time, as NTP's: two ticks of ours, two of its counter between them. */
export interface Beacon {
  /** Before the question was sent, after the answer had come. */
  readonly sent: Ticks;
  readonly received: Ticks;
  /** Raw values of the peer's counter: after the question had come, before the answer was sent. */
  readonly peerReceived: bigint;
  readonly peerSent: bigint;
  /** Whose counter that is. 32 hex digits. */
  readonly peerBootId: string;
  readonly peerTickSource: TickSource;
}

/** What is recorded was changed in mid-run (`nccl-trace control`). */
export interface ControlChange {
  /** From 0; older ones than the first that is there were overwritten. */
  readonly number: number;
  /** Until `tick` everything was recorded as before, from `done` on as said here. */
  readonly tick: Ticks;
  readonly done: Ticks;
  /** NCCL event-type bits. */
  readonly events: number;
  readonly sampleEvery: number;
}

export interface Communicator {
  /** What the `comm` field of records names. Counted from 0 per process, never reused. */
  readonly number: number;
  /** NCCL's commHash: equal on all ranks of the communicator. */
  readonly commId: bigint;
  readonly name: string;
  readonly rank: number;
  readonly nRanks: number;
  readonly nNodes: number;
  /** Profiler ABI version through which NCCL spoke. */
  readonly abi: number;
  /** As all ticks relative to the start of the file that told it: of another process (PXN) comparable with nothing here. */
  readonly initTick: Ticks;
  /** null: not finalized (yet). */
  readonly finalizeTick: Ticks | null;
}

export interface Lease {
  /** Index of the ring in the directory. */
  readonly ring: number;
  readonly tid: number;
  readonly threadName: string;
  readonly fromTick: Ticks;
  readonly fromPosition: number;
  /** null: the thread still had the ring. */
  readonly endPosition: number | null;
  readonly endTick: Ticks | null;
}

export type RingClass = 'steps' | 'ops' | 'host' | 'overflow';

export type LossCause = 'overwritten' | 'dropped' | 'torn' | 'copy';

/** Positions [from, end) of a ring that the file does not hold. */
export interface Gap {
  readonly from: number;
  readonly end: number;
  /**
   * 'overwritten': before the window of a full ring, or before the recorder came to put it into a chunk. 'dropped': with
   * the oldest chunks, to stay within the disk limit. 'torn': slots and chunks that do not check out, or records cut in
   * half. 'copy': the ring went on while it was being copied; the places hold good slots of other laps.
   */
  readonly cause: LossCause;
  /** Ticks of the records around it; null at an edge of the ring. */
  readonly afterTick: Ticks | null;
  readonly beforeTick: Ticks | null;
}

/** What is known of a ring before its records are read. */
export interface RingFacts {
  /** Index in the file's directory: the ring number of handles. */
  readonly ring: number;
  readonly class: RingClass;
  readonly capacity: number;
  readonly head: number;
  readonly folded: number;
  readonly muted: number;
  readonly nullCalls: number;
  readonly ordinalsLost: number;
  /** Slots in the ring itself that are neither empty nor valid. */
  readonly tornSlots: number;
  /** null: none of its positions are in a chunk. */
  readonly chunks: RingChunks | null;
}

export interface Ring extends RingFacts {
  readonly records: RecordColumns;
  readonly gaps: readonly Gap[];
}

/** The chunks of one ring; their positions lie in [from, end). */
export interface RingChunks {
  readonly count: number;
  readonly from: number;
  readonly end: number;
}

/** All chunks of a file whose headers check out. */
export interface ChunkFacts {
  readonly count: number;
  /** How many of them are compressed. */
  readonly compressed: number;
  readonly rawBytes: number;
  /** As they are in the file. */
  readonly storedBytes: number;
  /** Older chunks that were dropped to stay within the disk limit. */
  readonly dropped: number;
  /** Chunks between others that cannot be found. */
  readonly missing: number;
}

/** A repeat that was still going on when the file was last written. */
export interface OpenFold {
  readonly ring: number;
  readonly handleLow: number;
  readonly handleHigh: number;
  /** The repeated state, or 'start'. */
  readonly state: number | 'start';
  readonly count: number;
  readonly lastTick: Ticks;
}

/**
 * Records of one ring in order of position, one row each. A record's first slot gives position, tick and words 1 and 2;
 * its further slots stand in `extra`, six 32-bit words per slot (w0 low, w0 high, w1 low, ...), from `extraStart[i]` to
 * `extraStart[i + 1]`.
 */
export interface RecordColumns {
  readonly length: number;
  readonly position: Float64Array;
  readonly tick: Float64Array;
  readonly kind: Uint8Array;
  readonly word1Low: Uint32Array;
  readonly word1High: Uint32Array;
  readonly word2Low: Uint32Array;
  readonly word2High: Uint32Array;
  /** length + 1 entries. */
  readonly extraStart: Uint32Array;
  readonly extra: Uint32Array;
}

/** Damaged but usable: what is wrong, how often. Never thrown. */
export interface Problem {
  readonly what: string;
  readonly count: number;
}

/** What a file has surely lost besides slots of its rings that are known to be lost. */
export interface FileDamage {
  /** Entries of the table of communicators that cannot be read: records name numbers of which nothing is known. */
  readonly lostCommunicators: number;
  /** Of all tables together. */
  readonly lostEntries: number;
  /** Areas that are not all in the file: the copy was cut short. */
  readonly cutAreas: number;
  /** Entries of the directory that cannot be used, of classes that are known. */
  readonly lostAreas: number;
  /** Rings of a closed file that lack positions of which its leases tell. */
  readonly shortRings: number;
  /** It says that it was closed, and lacks what every recorder writes before that. */
  readonly isHollow: boolean;
}

/** All of a file but the records and what only they tell. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  readonly header: RankFileHeader;
  /** By number; recycled ones are missing. */
  readonly communicators: ReadonlyMap<number, Communicator>;
  /** Index = string id; entry 0 is the empty string of id 0 (NULL). undefined: it cannot be read. */
  readonly strings: readonly (string | undefined)[];
  readonly leases: readonly Lease[];
  /** The recorder's newest sign of life, by its number and not by its tick; null when none was written. */
  readonly heartbeat: ClockSample | null;
  /** All samples, by tick, heartbeats included. */
  readonly clockSamples: readonly ClockSample[];
  /** By tick; empty unless they were asked for. */
  readonly beacons: readonly Beacon[];
  /** By number. A file may tell of its newest change in the header alone (`changedTick`). */
  readonly changes: readonly ControlChange[];
  readonly chunks: ChunkFacts;
  readonly damage: FileDamage;
}

export interface RankFile extends FileFacts {
  readonly rings: readonly Ring[];
  readonly folds: readonly OpenFold[];
  readonly problems: readonly Problem[];
}

/** Consecutive rows [from, end) of one ring, in the file's merged order by (tick, ring, position). */
export interface RowRange {
  ring: number;
  records: RecordColumns;
  from: number;
  end: number;
}
