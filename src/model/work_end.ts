/**
 * When a collective or send/receive was done. NCCL only reports when it was *enqueued*. The work ends when its last child (ProxyOp,
 * KernelCh) ends. Without children nothing is guessed.
 */

import type { TraceNs } from '../base/time.js';

/** A GPU globaltimer value: ns, relative to the recording's start. */
export type GpuNs = number & { readonly __gpu: never };

export type WorkOutcome = (typeof WORK_OUTCOMES)[number];

export const WORK_OUTCOMES = [
  /** All children seen have ended. */
  'complete',
  /** A child, or the enqueueing itself, had not ended when the recording ended. */
  'open',
  /** The same, but its communicator had been finalized. */
  'aborted',
  /**
   * The work was enqueued, and its completion is not recorded. NCCL reported no child, or only stamps of other work: intra-node without
   * KernelCh, or masked.
   */
  'no-children',
  /** Only operations whose end NCCL never reports (CollNet, memcpy). */
  'endless',
  /** The records of its children were overwritten. */
  'outside-window',
  /** A later collective of its communicator ended, so this one has ended, too. The record of its end is lost. */
  'end-lost',
  /** Its end, or its children, are in a part of the file that was not read. */
  'not-read',
  /** Unfinished when the file of a silent rank ended. All other ranks finished it, so it did not stay open. */
  'cut-off',
] as const;

/** Its sends that other processes execute (PXN). */
export interface Elsewhere {
  /** The processes, as "rank 0003". */
  readonly executors: readonly string[];
  readonly ops: number;
  /** Latest end among those that ended. */
  readonly lastEnd: TraceNs | null;
  /** Some had not ended. */
  readonly isOpen: boolean;
}

/** ns: a stamp farther outside its callbacks' limits belongs to other work. */
export const GPU_SLACK_NS = 1e6;

/** When kernels ended: by the GPU's clock if the stamps can be this work's, else when the end was noticed. */
export function kernelsEnd(
  stamped: { readonly first: TraceNs; readonly last: TraceNs } | null,
  earliest: TraceNs,
  noticed: TraceNs,
): TraceNs {
  if (stamped === null) return noticed;
  const isItsOwn = stamped.first >= earliest - GPU_SLACK_NS && stamped.last <= noticed + GPU_SLACK_NS;
  return isItsOwn && stamped.last < noticed ? stamped.last : noticed;
}
