/**
 * When a collective or send/receive was done. NCCL only tells when it was *enqueued*; done is the end of its last child
 * (ProxyOp, KernelCh). Where no child was recorded that is said, not guessed.
 */

import type { Ticks } from '../base/time.js';
import type { GpuNs, Kernel, Op, Work } from './types.js';

export type WorkOutcome =
  /** All children seen have ended. */
  | 'complete'
  /** A child, or the enqueueing itself, was still going on when the recording ended. */
  | 'open'
  /** NCCL told of no child: intra-node without KernelCh, or masked. Enqueued, completion not recorded. */
  | 'no-children'
  /** The records of its children were overwritten: a ring is a window. */
  | 'outside-window';

export interface WorkEnd {
  readonly outcome: WorkOutcome;
  /** End of the last ProxyOp; null without one. */
  readonly lastOp: Ticks | null;
  /** End of the last KernelCh by the GPU's clock, and when it was noticed; null without one. */
  readonly lastKernel: { readonly gpu: GpuNs | null; readonly noticed: Ticks } | null;
}

/** Collects the ends of one file's work while its records stream by. */
export class WorkEnds {
  private readonly rows: { work: Work; lastOp: Ticks | null; gpu: GpuNs | null; noticed: Ticks | null }[] =
    [];

  started(work: Work): void {
    this.rows[work.row] = { work, lastOp: null, gpu: null, noticed: null };
  }

  opEnded(op: Op): void {
    const row = op.work && this.rows[op.work.row];
    if (row && op.stop !== null) row.lastOp = op.stop;
  }

  kernelEnded(kernel: Kernel): void {
    const row = kernel.work && this.rows[kernel.work.row];
    if (!row || kernel.stop === null) return;
    row.noticed = kernel.stop;
    if (kernel.timerStop !== null && (row.gpu === null || kernel.timerStop > row.gpu))
      row.gpu = kernel.timerStop;
  }

  /** `windowStart`: before it, records of children may have been overwritten. */
  finish(windowStart: Ticks): WorkEnd[] {
    return this.rows.map(({ work, lastOp, gpu, noticed }) => ({
      outcome: outcome(work, windowStart),
      lastOp,
      lastKernel: noticed === null ? null : { gpu, noticed },
    }));
  }
}

function outcome(work: Work, windowStart: Ticks): WorkOutcome {
  if (work.openChildren > 0 || work.enqueued === null) return 'open';
  if (work.children > 0) return 'complete';
  return work.start < windowStart ? 'outside-window' : 'no-children';
}
