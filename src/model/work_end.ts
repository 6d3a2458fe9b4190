/**
 * When a collective or send/receive was done. NCCL only reports when it was *enqueued*. Its last child's (ProxyOp, KernelCh) end is the
 * end. Without children nothing is guessed.
 */

import type { Ticks, TraceNs } from '../base/time.js';
import type { Standstill } from './standstill.js';
import type { GpuNs, Kernel, Op, Work } from './types.js';

export type WorkOutcome =
  /** All children seen have ended. */
  | 'complete'
  /** A child, or the enqueueing itself, had not ended when the recording ended. */
  | 'open'
  /** The same, but its communicator had been finalized. */
  | 'aborted'
  /** NCCL reported no child, or only stamps of other work: intra-node without KernelCh, or masked. Enqueued, completion not recorded. */
  | 'no-children'
  /** Only operations whose end NCCL never reports (CollNet, memcpy). */
  | 'endless'
  /** The records of its children were overwritten. */
  | 'outside-window'
  /** A later collective of its communicator ended, so it ended; the record is lost. */
  | 'end-lost';

export interface WorkEnd {
  readonly outcome: WorkOutcome;
  /** End of the last ProxyOp; null without one. */
  readonly lastOp: Ticks | null;
  /** End of the last receiving ProxyOp: all data from others had arrived. */
  readonly lastRecv: Ticks | null;
  /**
   * When the end of the last KernelCh was noticed; null if there is none. `stamps`: the first start and last end by the GPU's clock, null
   * if a kernel had none or ended before it began.
   */
  readonly lastKernel: { readonly stamps: GpuInterval | null; readonly noticed: Ticks } | null;
  /** When the GPU began. */
  readonly gpu: GpuBegin;
  /** Aborted: when its communicator was finalized. */
  readonly finalized: Ticks | null;
  /** Its sends that other processes execute (PXN); known once all files are scanned. */
  readonly elsewhere: Elsewhere | null;
}

/** The first signs of the GPU in a work; null: none is recorded. */
export interface GpuBegin {
  /** The first block's start by its own stamp, and when it was noticed. */
  readonly kernel: { readonly stamp: GpuNs; readonly noticed: Ticks } | null;
  /** The first send step's data were ready, or received data were consumed. */
  readonly step: Ticks | null;
  /** A receive's first data had arrived. */
  readonly data: Ticks | null;
}

export interface GpuInterval {
  readonly first: GpuNs;
  readonly last: GpuNs;
}

export interface Elsewhere {
  /** The processes, as "rank 0003". */
  readonly executors: readonly string[];
  readonly ops: number;
  /** Latest end among those that ended. */
  readonly lastEnd: TraceNs | null;
  /** Some had not ended. */
  readonly isOpen: boolean;
}

type Counted = Pick<
  Work,
  'kind' | 'start' | 'comm' | 'enqueued' | 'children' | 'openChildren' | 'endlessOps'
>;

interface Row {
  /** The work itself while children may come, then its outcome. */
  work: Counted;
  lastOp: Ticks | null;
  lastRecv: Ticks | null;
  /** null before the first kernel, and after one with impossible stamps. */
  stamps: GpuInterval | null;
  noticed: Ticks | null;
  kernel: GpuBegin['kernel'];
  step: Ticks | null;
  data: Ticks | null;
}

/** More work than an event table keeps: children can only find older work that is still open. */
const RECENT = 1 << 16;

/** Collects the ends of one file's work while its records stream by. */
export class WorkEnds {
  private readonly rows: Row[] = [];
  private settled = 0;

  started(work: Work): void {
    this.rows[work.row] = {
      work,
      lastOp: null,
      lastRecv: null,
      stamps: null,
      noticed: null,
      kernel: null,
      step: null,
      data: null,
    };
    if (this.rows.length - this.settled > RECENT) this.settle(this.rows[this.settled++]!);
  }

  opEnded(op: Op): void {
    const row = op.work && this.rows[op.work.row];
    if (!row || op.stop === null) return;
    gpuBegan(row, op);
    row.lastOp = op.stop;
    if (!op.isSend) row.lastRecv = op.stop;
  }

  kernelStarted({ work, timerStart, start, isWithinBlock, isOfOther }: Kernel): void {
    const row = work && this.rows[work.row];
    if (!row || timerStart === null || isWithinBlock || isOfOther) return;
    if (row.kernel === null || timerStart < row.kernel.stamp)
      row.kernel = { stamp: timerStart, noticed: start };
  }

  kernelEnded(kernel: Kernel): void {
    const row = kernel.work && this.rows[kernel.work.row];
    if (!row || kernel.stop === null || kernel.isWithinBlock || kernel.isOfOther) return;
    const isFirst = row.noticed === null;
    row.noticed = kernel.stop;
    if (isFirst || row.stamps) row.stamps = widened(row.stamps, kernel);
  }

  private passed(windowStart: Ticks, doubtful: ReadonlySet<number>): Set<number> {
    const passed = new Set<number>();
    const completeLater = new Set<number>();
    for (let i = this.rows.length - 1; i >= 0; i--) {
      const row = this.rows[i]!;
      const { comm, kind } = row.work;
      if (comm === null) continue;
      const end = outcome(row, windowStart);
      if (end === 'complete' && kind === 'Coll') completeLater.add(comm.number);
      // For a communicator that was destroyed in order it says "aborted".
      if (end !== 'complete' && doubtful.has(i) && completeLater.has(comm.number)) passed.add(i);
    }
    return passed;
  }

  /** Releases the work: bounds memory. */
  private settle(row: Row): void {
    const { kind, start, comm, enqueued, children, openChildren, endlessOps } = row.work;
    if (enqueued === null || openChildren > 0) return;
    row.work = { kind, start, comm, enqueued, children, openChildren, endlessOps };
  }

  /**
   * `windowStart`: before it, records of children may have been overwritten. `doubtful`: rows whose end may be among lost records. NCCL
   * runs a communicator's work in order, so work before a finished collective has ended, too. `unended`: see Standstill. `openOps`: those
   * that have not stopped.
   */
  finish(
    windowStart: Ticks,
    openOps: readonly Op[] = [],
    doubtful: ReadonlySet<number> = new Set(),
    unended: Standstill['unended'] = new Map(),
  ): WorkEnd[] {
    for (const op of openOps) if (op.work) gpuBegan(this.rows[op.work.row]!, op);
    const passed = doubtful.size === 0 ? new Set<number>() : this.passed(windowStart, doubtful);
    return this.rows.map((row, i) => {
      const end = passed.has(i) ? 'end-lost' : outcome(row, windowStart, unended.get(i));
      return {
        outcome: end,
        lastOp: row.lastOp,
        lastRecv: row.lastRecv,
        lastKernel: row.noticed === null ? null : { stamps: row.stamps, noticed: row.noticed },
        gpu: { kernel: row.kernel, step: row.step, data: row.data },
        finalized: end === 'aborted' ? (row.work.comm?.finalizeTick ?? null) : null,
        elsewhere: null,
      };
    });
  }
}

/** Operations come in any order: they are not merged by time. */
function gpuBegan(row: Row, { gpuBegan: step, firstData }: Op): void {
  row.step = earlier(row.step, step);
  row.data = earlier(row.data, firstData);
}

function earlier(a: Ticks | null, b: Ticks | null): Ticks | null {
  if (a === null || b === null) return a ?? b;
  return b < a ? b : a;
}

function widened(before: GpuInterval | null, { timerStart, timerStop }: Kernel): GpuInterval | null {
  if (timerStart === null || timerStop === null || timerStop < timerStart) return null;
  return {
    first: before && before.first < timerStart ? before.first : timerStart,
    last: before && before.last > timerStop ? before.last : timerStop,
  };
}

function outcome(
  { work, noticed }: Row,
  windowStart: Ticks,
  unended?: 'unfinished' | 'unknown',
): WorkOutcome {
  const finalized = work.comm?.finalizeTick ?? null;
  if (work.openChildren > 0 || work.enqueued === null || unended === 'unfinished')
    return finalized !== null && work.start <= finalized ? 'aborted' : 'open';
  // A kernel's end is the work's own. The operations with a known end are not all.
  if (work.endlessOps > 0 && noticed === null) return 'endless';
  if (unended === 'unknown') return 'no-children';
  if (work.children > 0) return 'complete';
  return work.start < windowStart ? 'outside-window' : 'no-children';
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

/** Adds what the executors of its sends report. */
export function withElsewhere(end: WorkEnd, elsewhere: Elsewhere): WorkEnd {
  if (elsewhere.isOpen && end.outcome !== 'aborted') return { ...end, outcome: 'open', elsewhere };
  return { ...end, outcome: end.outcome === 'no-children' ? 'complete' : end.outcome, elsewhere };
}
