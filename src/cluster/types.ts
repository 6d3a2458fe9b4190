/**
 * What all ranks of a communicator did together: each collective once, from the first arrival to the last completion.
 * Files are named by their index in the run. Times are on the trace's axis, as good as its clocks.
 */

import type { TraceNs } from '../base/time.js';
import type { WorkEnd } from '../model/work_end.js';
import type { ArrivalBasis } from './arrival.js';
import type { WorkTable } from '../model/work_table.js';

/** One rank's file, with the way from its times to the trace's. */
export interface ClusterMember {
  readonly communicators: readonly ClusterCommunicator[];
  readonly works: WorkTable;
  /** By row of `works`. */
  readonly ends: readonly WorkEnd[];
  /** `at` in the file's ticks. */
  readonly time: (at: number) => TraceNs;
  /** By number of the communicator, -1: not known. `at` in ns of its GPU's timer, relative as in `ends`. */
  readonly gpuTime: (comm: number) => ((at: number) => TraceNs) | null;
  /** By how much such a time may come late, and early, ns. */
  readonly gpuError: (comm: number) => { readonly late: number; readonly early: number };
}

/** As a file tells it. */
export interface ClusterCommunicator {
  readonly number: number;
  readonly commId: bigint;
  readonly name: string;
  /** Of this entry in it. */
  readonly rank: number;
  readonly nRanks: number;
}

export interface ClusterComm {
  readonly commId: bigint;
  readonly name: string;
  /** As NCCL says; 0: not told. */
  readonly nRanks: number;
  /** Files that speak of this communicator. */
  readonly files: readonly number[];
  /** By first call. */
  readonly collectives: readonly Collective[];
}

/** `from` -Infinity: it had begun nothing before. */
export interface Idle {
  readonly from: number;
  readonly to: TraceNs;
}

export interface Collective {
  readonly func: string;
  readonly datatype: string;
  /** As NCCL tells it: of AllGather and Broadcast in bytes. */
  readonly count: number;
  /** Of Broadcast and Reduce, else -1. */
  readonly root: number;
  readonly seq: number;
  /** Which replay of a captured graph. */
  readonly ordinal: number;
  /** When the first host called it; ranks come later (arrival.ts). */
  readonly firstCalled: TraceNs;
  readonly firstArrival: TraceNs;
  readonly firstFile: number;
  readonly lastArrival: TraceNs;
  readonly lastFile: number;
  /** What `lastArrival` rests on, when that rank's host called, and which rank of the communicator it is. */
  readonly lastBasis: ArrivalBasis;
  readonly lastCalled: TraceNs;
  readonly lastRank: number;
  /**
   * All others had surely come, and it had surely not: between these all waited for `lastRank` alone. Ends before it begins where that
   * is not known of any time.
   */
  readonly alone: { readonly from: TraceNs; readonly to: TraceNs };
  /** When `lastFile` last had nothing under way: only then it is late by itself, not for what came before. */
  readonly lastIdle: Idle;
  /** How many ranks were seen to arrive: of a process with several GPUs each. */
  readonly arrived: number;
  /** Files in which it had begun and not ended. */
  readonly open: readonly number[];
  /** Files in which it had not ended when the communicator was finalized. */
  readonly aborted: readonly number[];
  /** Files that were recording this communicator before and after it began, and never saw it. */
  readonly absent: readonly number[];
  /** Files that did not see it, and whose records of this communicator begin later: they cannot tell. */
  readonly notKnown: readonly number[];
  /** Files that entered it with another count, datatype or root than the first of the files did. */
  readonly different: readonly number[];
  /** On some rank all had ended that brings it the others' data: a receive, or a kernel. */
  readonly isFed: boolean;
  /** Latest end that was seen; null: none was. With `open` files it is not the end of all. */
  readonly end: TraceNs | null;
  /** Latest end of an enqueueing, where there is no better end. */
  readonly enqueued: TraceNs | null;
}
