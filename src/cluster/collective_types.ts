/** What collectives are joined from (join.ts), and who was late to one. Files are named by their index in the run. */

import type { TraceNs } from '../base/time.js';
import type { Communicator } from '../model/recording.js';
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
export type ClusterCommunicator = Pick<
  Communicator,
  'number' | 'commId' | 'name' | 'rank' | 'nRanks' | 'nNodes'
>;

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

export interface Spell {
  readonly from: number;
  readonly to: number;
}
