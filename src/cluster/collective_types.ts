/**
 * What all ranks of a communicator did together: each collective once, from the first arrival to the last completion.
 * Files are named by their index in the run. Times are on the trace's axis, as exact as its clocks.
 */

import type { TraceNs } from '../base/time.js';
import type { WorkEndTable } from '../model/work_end_table.js';
import type { WorkTable } from '../model/work_table.js';

/** The evidence of an arrival: the first kernel's start, the first step that the GPU filled or consumed, or the call alone. */
export type ArrivalBasis = 'kernel' | 'step' | 'call';

/** One rank's file, with the map from its times to the trace's. */
export interface ClusterMember {
  readonly communicators: readonly ClusterCommunicator[];
  readonly works: WorkTable;
  /** By row of `works`. */
  readonly ends: WorkEndTable;
  /** `at` in the file's ticks. */
  readonly time: (at: number) => TraceNs;
  /** By number of the communicator, -1: not known. `at` in ns of its GPU's timer, relative as in `ends`. */
  readonly gpuTime: (comm: number) => ((at: number) => TraceNs) | null;
  /** Between these ticks the process made a call on the communicator that NCCL did not report further. */
  readonly calledWithoutWork: (comm: number, from: number, to: number) => boolean;
  /** ns: how late and how early a time from `gpuTime` may be. */
  readonly gpuError: (comm: number) => { readonly late: number; readonly early: number };
}

/** A communicator as one file reports it. */
export interface ClusterCommunicator {
  readonly number: number;
  readonly commId: bigint;
  readonly name: string;
  /** Rank of this entry in its communicator. */
  readonly rank: number;
  readonly nRanks: number;
  /** 0: not reported. */
  readonly nNodes: number;
}

export interface ClusterComm {
  readonly commId: bigint;
  readonly name: string;
  /** As NCCL reports it; 0: not reported. */
  readonly nRanks: number;
  /** Files with this communicator. */
  readonly files: readonly number[];
  /** By first call. */
  readonly collectives: readonly Collective[];
}

/** The time in which a rank had nothing pending. `from` -Infinity: it had not begun anything before. */
export interface Idle {
  readonly from: number;
  readonly to: TraceNs;
}

/**
 * The rank that all others waited for. The wait begins when all others had come and this rank had nothing under way. It ends when this rank
 * came.
 */
export interface Late {
  readonly file: number;
  readonly rank: number;
  /** The evidence for `to`. */
  readonly basis: ArrivalBasis;
  readonly called: TraceNs;
  /**
   * At this time all others had certainly arrived. For the last caller, an earlier call of the same communicator may have held them up
   * instead. If this is later than `to`, it is not known.
   */
  readonly others: TraceNs;
  /** Its process had nothing pending. Only then is it late itself, and not because of earlier work. */
  readonly idle: Idle;
  /** The rank had certainly not arrived before this time. */
  readonly to: TraceNs;
}

/** All others waited from `others` on, none of these was busy since `idle`, and the first of them came at `to`. */
export interface LateTogether {
  readonly ranks: readonly Pick<Late, 'file' | 'rank'>[];
  readonly others: number;
  readonly idle: number;
  readonly to: number;
}

export interface Collective {
  readonly func: string;
  readonly datatype: string;
  /** Algorithm and protocol, as RING/SIMPLE; several if its ranks differ: RING/SIMPLE and TREE/LL. '': NCCL names none. */
  readonly plan: string;
  /** Channels that NCCL announces; 0: not known. */
  readonly channels: number;
  /** As NCCL reports it: in bytes for AllGather and Broadcast. */
  readonly count: number;
  /** For Broadcast and Reduce, else -1. */
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
  /** If the process has several GPUs: which rank of the communicator. */
  readonly lastRank: number;
  /**
   * The last on the GPU and the last caller. Mostly they are the same rank. They differ if the last caller delayed the last rank on the
   * GPU.
   */
  readonly late: { readonly onGpu: Late; readonly onHost: Late };
  /** Ranks that came later than all others, of `size` ranks: up to half of them. Empty for old collectives of a long run. */
  readonly together: (size: number) => Record<keyof Collective['late'], readonly LateTogether[]>;
  /** How many ranks were seen to arrive; each GPU of a process counts. */
  readonly arrived: number;
  /** Files in which it had begun and not ended. */
  readonly open: readonly number[];
  /** Files of silent ranks that end before the others finished it, or began it (study/cut_off.ts). */
  readonly cutOff: readonly number[];
  /** Files in which it had not ended when the communicator was finalized. */
  readonly aborted: readonly number[];
  /** Files that were recording this communicator before and after it began, and never saw it. */
  readonly absent: readonly number[];
  /** Files that did not see it, and whose records of this communicator begin later: not known. */
  readonly notKnown: readonly number[];
  /** Files that entered it with another count, datatype or root than the first of the files did. */
  readonly different: readonly number[];
  /** On at least one rank, all receives (or kernels) that bring the other ranks' data had ended. */
  readonly isFed: boolean;
  /** Latest end that was seen; null: none. With `open` files it is not the end of all. */
  readonly end: TraceNs | null;
  /** Latest end of an enqueueing, if there is no better end. */
  readonly enqueued: TraceNs | null;
}
