/** What a rank was doing when its records end: its pending work, and for each operation its progress and its wait. */

import type { Ticks } from '../base/time.js';
import type { HandleKey } from './handle_key.js';
import type { StepPhase } from './waits.js';
import type { WorkIdentity } from './work_identity.js';

/** How many announced blocks of a work the GPU began and ended, by KernelCh events. Within a node there is no other source. */
export interface BlocksSeen {
  /** Announced blocks, one per channel. */
  readonly channels: number;
  /** With stamps of their own. */
  readonly begun: number;
  readonly ended: number;
}

export interface PendingStep {
  readonly step: number;
  readonly phase: StepPhase;
  /** When this wait began. */
  readonly since: Ticks;
}

export interface PendingOp {
  readonly channel: number;
  /** Rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  /** Steps that are done. */
  readonly done: number;
  /** The oldest step in flight; null: none was. */
  readonly step: PendingStep | null;
}

export interface PendingWork {
  readonly kind: WorkIdentity['kind'];
  /** Row in the file's table of work. */
  readonly row: number;
  /** Key of its start record. */
  readonly key: HandleKey;
  /** Number of the communicator in its file; null: its table entry is lost. */
  readonly comm: number | null;
  readonly func: string;
  /** Coll only. */
  readonly seq: number | null;
  readonly ordinal: number;
  /** P2p only. */
  readonly peer: number | null;
  readonly start: Ticks;
  /** Key of its group of calls; null: not known. */
  readonly group: HandleKey | null;
  readonly ops: readonly PendingOp[];
  /** What the GPU was seen to begin and end; null: not known. */
  readonly blocks: BlocksSeen | null;
  /** Slots that were lost after the last record of its pending parts. All of them may have ended there. */
  readonly lostSince: number;
}

export interface PendingAtEnd {
  /** In order of start. */
  readonly works: readonly PendingWork[];
  /** By row: works with blocks that the GPU did not begin or not end ('unfinished'), or with only stamps of other work ('unknown'). */
  readonly unended: ReadonlyMap<number, 'unfinished' | 'unknown'>;
  /** Executed for other processes (PXN), by the handle of their work there. */
  readonly foreign: readonly { readonly parent: bigint; readonly op: PendingOp }[];
  /**
   * Number of the communicator (UNKNOWN_COMM for all unknown ones) → when anything of it last began, moved on or ended before its finalize.
   */
  readonly lastMove: ReadonlyMap<number, Ticks>;
}

/** In place of a communicator's number: its entry is lost, or the table was full. */
export const UNKNOWN_COMM = -1;

/** A call, or calls of one group, that had not returned when the records end. */
export interface InsideCall {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly func: string;
  readonly isTransfer: boolean;
  readonly count: number;
  readonly datatype: string;
  readonly root: number | null;
  /** Time of the call. */
  readonly at: Ticks;
  readonly key: HandleKey;
  /** Calls of the same group on that communicator. */
  readonly calls: number;
}
