/** What a rank was doing when its records end: its pending work, and for each operation its progress and its wait. */

import type { Ticks, TraceNs } from '../base/time.js';
import type { HandleKey } from './handle_key.js';
import type { TickColumns } from './on_axis.js';
import type { Wait } from './waits.js';

/** How many announced blocks of a work the GPU began and ended, by KernelCh events. Within a node there is no other source. */
export interface BlocksSeen {
  /** Announced blocks, one per channel. */
  readonly channels: number;
  /** With stamps of their own. */
  readonly begun: number;
  readonly ended: number;
}

export interface PendingOp<Time = TraceNs> {
  readonly channel: number;
  /** Rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  readonly nSteps: number;
  /** Steps that are done. */
  readonly done: number;
  /** The oldest step in flight, and since when it waits for what; null: none was. */
  readonly wait: { readonly step: number; readonly name: Wait; readonly since: Time } | null;
  /** File of the process that executes it (PXN); null: its own. */
  readonly executor: number | null;
}

export interface PendingWork<Time = TraceNs> {
  /** Where its start record is: "ring:position", as in `inspect --records`. */
  readonly record: string;
  /** Number of the communicator in its file; null: its table entry is lost. */
  readonly comm: number | null;
  readonly func: string;
  /** Coll only. */
  readonly seq: number | null;
  readonly ordinal: number;
  /** Algorithm and protocol, as RING/SIMPLE; '': not known. */
  readonly plan: string;
  /** P2p only. */
  readonly peer: number | null;
  readonly start: Time;
  /** Key of its group of calls; null: not known. The order of works of one group does not matter. */
  readonly group: HandleKey | null;
  readonly ops: readonly PendingOp<Time>[];
  /** NCCL has not returned from handing it to its proxy: the channels with operations so far, and all (0: not known). null: it has. */
  readonly unhanded: { readonly channels: number; readonly of: number } | null;
  /** What the GPU was seen to begin and end; null: not known. */
  readonly blocks: BlocksSeen | null;
  /** Its GPU filled a send step, or consumed received data. */
  readonly hasMoved: boolean;
  /** Slots that were lost after the last record of its pending parts. All of them may have ended there. */
  readonly lostSince: number;
}

export const OP_TICKS: TickColumns<PendingOp<Ticks>> = { wait: { since: true } };
export const WORK_TICKS: TickColumns<PendingWork<Ticks>> = { start: true, ops: OP_TICKS };

export interface PendingAtEnd {
  /** In order of start. `row`: in the file's table of work. */
  readonly works: readonly (PendingWork<Ticks> & { readonly row: number })[];
  /** By row: works with blocks that the GPU did not begin or not end ('unfinished'), or with only stamps of other work ('unknown'). */
  readonly unended: ReadonlyMap<number, 'unfinished' | 'unknown'>;
  /** Executed for other processes (PXN), by the handle of their work there. */
  readonly foreign: readonly { readonly parent: bigint; readonly op: PendingOp<Ticks> }[];
  /**
   * Number of the communicator (UNKNOWN_COMM for all unknown ones) → when anything of it last began, moved on or ended before its finalize.
   */
  readonly lastMove: ReadonlyMap<number, Ticks>;
}

/** In place of a communicator's number: its entry is lost, or the table was full. */
export const UNKNOWN_COMM = -1;

/** A call, or calls of one group, that had not returned when the records end. It may be connecting. */
export interface InsideCall<Time = TraceNs> {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly func: string;
  readonly isTransfer: boolean;
  readonly count: number;
  readonly datatype: string;
  readonly root: number | null;
  /** Time of the call. */
  readonly at: Time;
  /** As of a work. */
  readonly record: string;
}

export const CALL_TICKS: TickColumns<InsideCall<Ticks>> = { at: true };
