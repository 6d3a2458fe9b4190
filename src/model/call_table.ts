/**
 * The collectives that a process called (CollApi), per communicator and in order. The table has a call even if NCCL reported no Coll for
 * it. Ranks must make the same calls in the same order. The order within a group does not matter.
 */

import type { Column } from '../base/columns.js';

/** What was called. Many calls share one shape. */
export interface CallShape {
  readonly func: string;
  /** As the application called it: elements, for AllGather per rank. */
  readonly count: number;
  readonly datatype: string;
  /** Rank in the communicator; null if the function has no root. */
  readonly root: number | null;
}

/** One row per call of a communicator. */
export interface CommCalls {
  /** Index into the file's shapes. */
  readonly shape: Uint16Array | Uint32Array;
  /** Ticks. */
  readonly at: Column;
  /** Keys of the start records. */
  readonly keys: Column;
  /** 1: in another group than the call before. */
  readonly begins: Uint8Array;
  /** A call was recorded into a graph. The graph's replays are not in the table. */
  readonly hasCaptured: boolean;
  /** From this call on, all groups and names are known. */
  readonly knownFrom: number;
  /** Ticks: the last collective up to `until` that NCCL reported without a call in this table. -1: none. */
  readonly lastOther: number;
  /** The last call's group had not ended, so more calls may belong to it. */
  readonly isLastOpen: boolean;
}

export interface CallTable {
  readonly shapes: readonly CallShape[];
  /** By number of the communicator. */
  readonly comms: ReadonlyMap<number, CommCalls>;
  /** Calls of unknown communicators. */
  readonly unknownComms: number;
  /** Ticks: the file holds the calls of all threads up to here. Later calls are not in the table. */
  readonly until: number;
}
