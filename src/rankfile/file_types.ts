/**
 * The reader's output: the facts of one rank file, and its records in columns. Plain data without methods, so that the native addon can
 * produce the same and a worker thread can post it. The format is schemas/rank-file.md. u64 values that may exceed 2^53 are bigints where
 * rare (header, tables) and pairs of 32-bit halves where frequent (records). Ticks are relative to `tickBase`.
 */

import type { Ticks } from '../base/time.js';

export type Life = 'creating' | 'recording' | 'closed';
export type Mode = 'flight' | 'stream';
export type Placement = 'in-file' | 'in-ring-file' | 'in-memory';
export type TickSource = 'tsc' | 'cntvct' | 'monotonic' | `unknown (${number})`;

/** The process that wrote the file: unique over all hosts and boots, unlike a raw pid. */
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
  /** Nominal, in Hz. The clock samples give the real rate. */
  readonly tickHz: number;
  /** The raw counter at the start; `Ticks` are relative to it. */
  readonly tickBase: bigint;
  /** ns since the Unix epoch, at `tickBase`. */
  readonly startRealtime: bigint;
  readonly startMonotonic: bigint;
  /** From RANK or a similar variable. null if the environment has none. */
  readonly rank: number | null;
  readonly worldSize: number | null;
  readonly localRank: number | null;
  readonly mode: Mode;
  /** NCCL event-type bits requested at init. */
  readonly eventMask: number;
  readonly maskNow: number;
  readonly sampleEvery: number;
  readonly ringBytes: number;
  readonly maxBytes: number;
  readonly placement: Placement;
  readonly copyIntervalMs: number;
  /** For a copy: when its rings were read, ns since 1970. null: not known. */
  readonly snapshotRealtime: bigint | null;
  readonly hostName: string;
  readonly runId: string;
  readonly ncclHostId: string;
  readonly program: string;
  readonly gpu: string;
  readonly recorderVersion: string;
  /** Version of the first NCCL that its process called us from, as "2.30.7". null: not known. */
  readonly ncclVersion: string | null;
  readonly ringPath: string;
  readonly options: string;
  readonly life: Life;
  /** If the rings lie outside of the file: up to this tick, the copies of the rings in the file are complete. null: never copied. */
  readonly copiedTick: Ticks | null;
  /** Requests to a running recorder: number of the last answered one, and how many were refused. */
  readonly controlAnswered: number;
  readonly controlRefused: number;
  readonly sampleNow: number;
  /** Event types or sampling changed in mid-run: a missing record may not have been requested. */
  readonly hasChanged: boolean;
  /** Time of the last change; null: never. */
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
  /** Width of the bracket around the three clocks, in ticks: the sample's own uncertainty. */
  readonly width: number;
}

/** A change of the recording in mid-run (`nccl-trace control`). */
export interface ControlChange {
  /** From 0. Changes before the first one in the table were overwritten. */
  readonly number: number;
  /** Up to `tick` everything was recorded as before. The change is complete at `done`. */
  readonly tick: Ticks;
  readonly done: Ticks;
  /** NCCL event-type bits. */
  readonly events: number;
  readonly sampleEvery: number;
}

/** Times are relative to the start of the reporting file, so they cannot be compared with those of another process (PXN). */
export interface Communicator<Time = Ticks> {
  /** The value of records' `comm` field. From 0 per process, never reused. */
  readonly number: number;
  /** NCCL's commHash: equal on all ranks of the communicator. */
  readonly commId: bigint;
  readonly name: string;
  /** NCCL's name, if several communicators of the run have it and `name` tells them apart (runs/communicators.ts). */
  readonly kind?: string;
  readonly rank: number;
  readonly nRanks: number;
  readonly nNodes: number;
  /** Profiler ABI version through which NCCL spoke. */
  readonly abi: number;
  /** When it was set up, on all ranks at about the same time; null: not known. */
  readonly init: Time | null;
  /** null: not finalized (yet). */
  readonly finalized: Time | null;
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

/** The stretch of time to read from a file, in ticks (read_window.ts). */
export interface ReadWindow {
  /** They may be infinite. */
  readonly from: number;
  readonly to: number;
  /** Ticks before and after the stretch that are read, too. */
  readonly around: number;
  /** Chunks are read only if they are of the newest lap of their ring. */
  readonly isLapOnly?: boolean | undefined;
}

/** Missing positions [from, end) of a ring. */
export interface Gap {
  readonly from: number;
  readonly end: number;
  /**
   * 'overwritten': before the window of a full ring, or overwritten before the recorder put it into a chunk. 'dropped': with the oldest
   * chunks, because of the disk limit. 'torn': invalid slots and chunks, or records cut in half. 'copy': the ring changed during the copy,
   * so the places hold valid slots of other laps. 'unread': in chunks that were left out (read_window.ts).
   */
  readonly cause: LossCause | 'unread';
  /**
   * Ticks of the records before and after the gap. null at an edge of the ring. For an unread gap: ticks of its own first and last record.
   */
  readonly afterTick: Ticks | null;
  readonly beforeTick: Ticks | null;
}

/** Facts of a ring before its records are read. */
export interface RingFacts {
  /** Index in the file's directory: its number in handles. */
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
  /** null: no chunk has any of its positions. */
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

/** All chunks of a file with valid headers. */
export interface ChunkFacts {
  readonly count: number;
  /** Number of compressed chunks. */
  readonly compressed: number;
  readonly rawBytes: number;
  /** As stored in the file. */
  readonly storedBytes: number;
  /** Older chunks dropped because of the disk limit. */
  readonly dropped: number;
  /** Missing chunks between others. */
  readonly missing: number;
}

/** A repeat that was going on at the file's last write. */
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
 * Records of one ring by position, one row each. Columns may be longer than `length`. A record's first slot gives position, tick and words 1 and 2. Its further slots are in
 * `extra`, six 32-bit words per slot (w0 low, w0 high, w1 low, ...), from `extraStart[i]` to `extraStart[i + 1]`.
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
  /** One entry more than rows. */
  readonly extraStart: Uint32Array;
  readonly extra: Uint32Array;
}

/** Damage of a usable file: what is wrong, and how often. It is never thrown. */
export interface Problem {
  readonly what: string;
  readonly count: number;
}

/** What a file certainly lost, without the lost slots of its rings. The rings count those. */
export interface FileDamage {
  /** Unreadable entries of the communicators' table: records may name unknown communicators. */
  readonly lostCommunicators: number;
  /** Lost entries of all tables together. */
  readonly lostEntries: number;
  /** Areas that are not completely in the file: the copy was cut short. */
  readonly cutAreas: number;
  /** Unusable directory entries of known classes. */
  readonly lostAreas: number;
  /** Rings of a closed file without positions that its leases mention. */
  readonly shortRings: number;
  /** The file is marked closed, but lacks entries that every recorder writes before it closes a file. */
  readonly isHollow: boolean;
}

/** The facts of a file that are known before its records are read. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  readonly header: RankFileHeader;
  /** By number; recycled ones are missing. */
  readonly communicators: ReadonlyMap<number, Communicator>;
  /** Index = string id; entry 0 is the empty string of id 0 (NULL). undefined: unreadable. */
  readonly strings: readonly (string | undefined)[];
  readonly leases: readonly Lease[];
  /** The recorder's newest heartbeat, by number, not by tick; null: none was written. */
  readonly heartbeat: ClockSample | null;
  /** All samples, by tick, heartbeats included. */
  readonly clockSamples: readonly ClockSample[];
  /** By tick; empty unless requested. */
  /** By number. Some files only have the newest change, in the header (`changedTick`). */
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
