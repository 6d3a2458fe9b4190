/** Collects the ends of one file's works while its records are read. For each work it keeps only a row. */

import { placeOf, RowBlocks } from '../base/columns.js';
import { packNumbers } from '../base/packed_numbers.js';
import type { Ticks } from '../base/time.js';
import type { Communicator } from '../rankfile/types.js';
import type { PendingAtEnd } from './pending.js';
import type { Kernel, Op, Work } from './types.js';
import { WORK_OUTCOMES, type WorkOutcome } from './work_end.js';
import { END_TIMES, type WorkEndTable } from './work_end_table.js';

/** The times for which all records of a kind were read. */
export interface Kept {
  /** Ticks: before it, records may have been overwritten. */
  readonly from: Ticks;
  /** Whether the records that follow an event of that time were read. */
  readonly isRead: (at: number) => boolean;
}

export const ALL_KEPT: Kept = { from: 0 as Ticks, isRead: () => true };

/** Works of one communicator and kind. */
export interface WorkStarts {
  /** null: not known. */
  readonly comm: Communicator | null;
  readonly rows: readonly number[];
  /** Ticks, one for each of `rows`. */
  readonly starts: Float64Array;
}

/** Facts about the work in a row, as bits. */
const IS_COLL = 1;
const IS_ENQUEUED = 2;
const HAS_CHILDREN = 4;
const HAS_OPEN_CHILDREN = 8;
const HAS_ENDLESS = 16;

const NO_COMM = -1;

const COLUMNS = {
  ...(Object.fromEntries(END_TIMES.map((name) => [name, new Float64Array(0)])) as Record<
    (typeof END_TIMES)[number],
    Float64Array
  >),
  start: new Float64Array(0),
  state: new Uint8Array(0),
  /** Number of the communicator. */
  comm: new Int32Array(0),
};

export class WorkEnds {
  private readonly rows = new RowBlocks(COLUMNS);
  private readonly comms = new Map<number, Communicator>();

  started(work: Work): void {
    const { row, comm } = work;
    this.rows.growTo(row + 1);
    const columns = this.rows.holding(row);
    columns.start[placeOf(row)] = work.start;
    columns.comm[placeOf(row)] = comm?.number ?? NO_COMM;
    if (comm !== null && !this.comms.has(comm.number)) this.comms.set(comm.number, comm);
    this.changed(work);
  }

  /** It was enqueued, or the number of its children has changed. */
  changed({ row, kind, enqueued, children, openChildren, endlessOps }: Work): void {
    this.rows.holding(row).state[placeOf(row)] =
      (kind === 'Coll' ? IS_COLL : 0) |
      (enqueued === null ? 0 : IS_ENQUEUED) |
      (children > 0 ? HAS_CHILDREN : 0) |
      (openChildren > 0 ? HAS_OPEN_CHILDREN : 0) |
      (endlessOps > 0 ? HAS_ENDLESS : 0);
  }

  opStarted({ work }: Op): void {
    if (work) this.changed(work);
  }

  opEnded(op: Op): void {
    const { work, stop, isSend } = op;
    if (!work || stop === null) return;
    this.changed(work);
    this.gpuBegan(work.row, op);
    const { lastOp, lastRecv } = this.rows.holding(work.row);
    lastOp[placeOf(work.row)] = stop;
    if (!isSend) lastRecv[placeOf(work.row)] = stop;
  }

  kernelStarted({ work, timerStart, start, isWithinBlock, isOfOther }: Kernel): void {
    if (!work) return;
    this.changed(work);
    if (timerStart === null || isWithinBlock || isOfOther) return;
    const { kernelStamp, kernelNoticed } = this.rows.holding(work.row);
    const at = placeOf(work.row);
    if (timerStart >= kernelStamp[at]!) return;
    kernelStamp[at] = timerStart;
    kernelNoticed[at] = start;
  }

  kernelEnded(kernel: Kernel): void {
    const { work, stop } = kernel;
    if (!work || stop === null) return;
    this.changed(work);
    if (kernel.isWithinBlock || kernel.isOfOther) return;
    const columns = this.rows.holding(work.row);
    const at = placeOf(work.row);
    const isFirst = Number.isNaN(columns.noticed[at]);
    columns.noticed[at] = stop;
    if (isFirst || !Number.isNaN(columns.firstStamp[at])) widen(columns, at, kernel);
  }

  /** Operations come in any order: they are not merged by time. */
  private gpuBegan(row: number, { gpuBegan, firstData }: Op): void {
    const { step, data } = this.rows.holding(row);
    const at = placeOf(row);
    if (gpuBegan !== null && !(step[at]! <= gpuBegan)) step[at] = gpuBegan;
    if (firstData !== null && !(data[at]! <= firstData)) data[at] = firstData;
  }

  /** The starts of the works, by communicator and kind. */
  starts(): WorkStarts[] {
    const rows = new Map<number, number[]>();
    for (let row = 0; row < this.rows.rows; row++) {
      const key = 2 * this.commOf(row) + Number(this.is(row, IS_COLL));
      const known = rows.get(key);
      if (known) known.push(row);
      else rows.set(key, [row]);
    }
    return [...rows.values()].map((rows) => {
      const number = this.commOf(rows[0]!);
      const starts = Float64Array.from(rows, (row) => this.startOf(row));
      return { comm: this.comms.get(number) ?? null, rows, starts };
    });
  }

  private passed(kept: Kept, doubtful: ReadonlySet<number>): Set<number> {
    const passed = new Set<number>();
    const completeLater = new Set<number>();
    for (let row = this.rows.rows - 1; row >= 0; row--) {
      const comm = this.commOf(row);
      if (comm === NO_COMM) continue;
      const end = this.outcome(row, kept);
      if (end === 'complete' && this.is(row, IS_COLL)) completeLater.add(comm);
      // For a communicator that was destroyed in order it says "aborted".
      if (end !== 'complete' && doubtful.has(row) && completeLater.has(comm)) passed.add(row);
    }
    return passed;
  }

  /**
   * `kept`: the times for which all children of works were read. `doubtful`: rows whose end may be among lost records. NCCL runs a
   * communicator's work in order, so work before a finished collective has ended, too. `unread`: rows whose end may be in a part that was
   * not read. `unended`: see PendingAtEnd. `openOps`: operations that have not stopped.
   */
  finish(
    kept: Kept,
    openOps: readonly Op[] = [],
    doubtful: ReadonlySet<number> = new Set(),
    unended: PendingAtEnd['unended'] = new Map(),
    unread: ReadonlySet<number> = new Set(),
  ): WorkEndTable {
    for (const op of openOps) if (op.work) this.gpuBegan(op.work.row, op);
    const passed = doubtful.size === 0 ? new Set<number>() : this.passed(kept, doubtful);
    const outcome = new Uint8Array(this.rows.rows);
    const finalized = new Map<number, Ticks>();
    for (let row = 0; row < this.rows.rows; row++) {
      const end = unread.has(row)
        ? 'not-read'
        : passed.has(row)
          ? 'end-lost'
          : this.outcome(row, kept, unended.get(row));
      outcome[row] = WORK_OUTCOMES.indexOf(end);
      if (end === 'aborted') finalized.set(row, this.finalizeOf(row)!);
    }
    return { ...this.rows.pack(END_TIMES), outcome: packNumbers(outcome), finalized, elsewhere: new Map() };
  }

  private outcome(row: number, kept: Kept, unended?: 'unfinished' | 'unknown'): WorkOutcome {
    const finalized = this.finalizeOf(row);
    const start = this.startOf(row);
    if (this.is(row, HAS_OPEN_CHILDREN) || !this.is(row, IS_ENQUEUED) || unended === 'unfinished')
      return finalized !== null && start <= finalized ? 'aborted' : 'open';
    // If a kernel ended, the work ended. Operations do not show it here, because the ends of some are not known.
    if (this.is(row, HAS_ENDLESS) && Number.isNaN(this.rows.holding(row).noticed[placeOf(row)]))
      return 'endless';
    if (unended === 'unknown') return 'no-children';
    if (this.is(row, HAS_CHILDREN)) return 'complete';
    if (start < kept.from) return 'outside-window';
    return kept.isRead(start) ? 'no-children' : 'not-read';
  }

  private is(row: number, bit: number): boolean {
    return (this.rows.holding(row).state[placeOf(row)]! & bit) !== 0;
  }

  private startOf(row: number): number {
    return this.rows.holding(row).start[placeOf(row)]!;
  }

  private commOf(row: number): number {
    return this.rows.holding(row).comm[placeOf(row)]!;
  }

  private finalizeOf(row: number): Ticks | null {
    return this.comms.get(this.commOf(row))?.finalizeTick ?? null;
  }
}

/** Widens the interval of the work's stamps. After an impossible stamp no stamps are known. */
function widen(
  { firstStamp, lastStamp }: typeof COLUMNS,
  at: number,
  { timerStart, timerStop }: Kernel,
): void {
  const isPossible = timerStart !== null && timerStop !== null && timerStop >= timerStart;
  if (!isPossible) firstStamp[at] = lastStamp[at] = NaN;
  else {
    // Neither holds for NaN.
    if (!(firstStamp[at]! < timerStart)) firstStamp[at] = timerStart;
    if (!(lastStamp[at]! > timerStop)) lastStamp[at] = timerStop;
  }
}
