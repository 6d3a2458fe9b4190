/** What a reader of a foreign format makes of a file, or of one process in it: the shape that all readers share. A new format is one file that returns this. */

import type { ArrowEnds, EventStore } from './event_store.js';

export interface ForeignTrace {
  /** Name of the group of its tracks: "PyTorch", "Nsight Systems". */
  readonly tool: string;
  readonly events: EventStore;
  /** The name of a slice or instant, of the JSON that `events` has of it. `argument` is called for each of its arguments. */
  readonly shown: (stored: unknown, argument: (name: string, value: unknown) => void) => string;
  readonly arrows: ArrowEnds;
  /** By number, as in `events`. */
  readonly tracks: readonly ForeignTrack[];
  /** REALTIME ns of time 0 of the events. */
  readonly origin: bigint;
  /** The first begin and the last end of the events, ns. */
  readonly span: { readonly from: number; readonly to: number };
  readonly says: ForeignIdentity;
  readonly kernels: readonly NcclKernel[];
  /** Rows of all kernels on the GPU: those of NCCL, and the others. */
  readonly gpu: { readonly nccl: readonly number[]; readonly compute: readonly number[] };
  readonly steps: readonly ForeignStep[];
  /** How often something could not be read as an event, by what it was. */
  readonly leftOut: ReadonlyMap<string, number>;
}

/** What a file says of itself; null: nothing. */
export interface ForeignIdentity {
  readonly rank: number | null;
  readonly worldSize: number | null;
  readonly host: string | null;
  /** As its host numbers the process. */
  readonly pid: number | null;
}

export interface ForeignTrack {
  readonly title: string;
  readonly kind: 'slices' | 'counter';
  /** What a GPU does: not a thread. */
  readonly isOnGpu: boolean;
  /** Position among the tracks, ascending. */
  readonly order: number;
}

/** A training step. Times in ns, like those of the events. */
export interface ForeignStep {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A kernel of NCCL on the GPU. Times in ns, like those of the events. */
export interface NcclKernel {
  readonly row: number;
  /** Event of the call that launched it; null: not found. */
  readonly call: number | null;
  /** As NCCL names it: AllReduce; SendRecv for sends and receives; null: several in one kernel. */
  readonly func: string | null;
  /** f32 and the like; null: not told. Collectives that only copy run as bytes, whatever the tensor's type. */
  readonly type: string | null;
  readonly start: number;
  readonly end: number;
  /** null: the file does not number it. */
  readonly numbered: Numbered | null;
}

/** How PyTorch numbers an operation. */
export interface Numbered {
  /** Its process group: `seq` counts in there. */
  readonly group: string;
  /** null: no `Seq`. */
  readonly seq: number | null;
  /** The same on all ranks of the operation ("Comms Id"); null: none. */
  readonly id: string | null;
}
