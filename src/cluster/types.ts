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
  /** The process called something of the communicator between these, in its ticks, of which NCCL told no more. */
  readonly calledUntold: (comm: number, from: number, to: number) => boolean;
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

/** The rank that all others waited for: from when they had come, and it had nothing under way, until it came. */
export interface Late {
  readonly file: number;
  readonly rank: number;
  /** What `to` rests on. */
  readonly basis: ArrivalBasis;
  readonly called: TraceNs;
  /**
   * All others had surely come; or, for who called last, were held up by what they had called before in the same communicator.
   * After `to`: that is not known of any time.
   */
  readonly others: TraceNs;
  /** Its process had nothing under way: only then it is late by itself, not for what came before. */
  readonly idle: Idle;
  /** It had surely not come before. */
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
  /** Of a process with several GPUs, which rank of the communicator. */
  readonly lastRank: number;
  /** Who came last on the GPU, and who called last. Mostly the same rank; not where the last on the GPU was held up by the other. */
  readonly late: { readonly onGpu: Late; readonly onHost: Late };
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
