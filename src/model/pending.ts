/**
 * What a rank was doing when its records end: its pending work, and for each operation its progress and its wait. Also when each
 * communicator last moved; polls are not movement. It is collected while the records are read. The result is small, because NCCL has few
 * operations in flight.
 */

import { addTo } from '../base/grouped.js';
import { OpenSet } from '../base/open_set.js';
import type { Ticks } from '../base/time.js';
import { KernelProgress, type BlocksSeen } from './kernel_progress.js';
import { NOTHING_LOST, type LostAfter } from './lost_ends.js';
import type { HandleKey } from './record_fields.js';
import type { StepTable } from './step_table.js';
import { StepPhase, type Kernel, type Op, type Work, type WorkListener } from './types.js';

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
  readonly kind: Work['kind'];
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

/** If this many operations are in flight, the endless ones are found and dropped. */
const MANY_OPS = 4096;

export class PendingCollector implements Partial<WorkListener> {
  private readonly works = new Set<Work>();
  private readonly kernels = new OpenSet<Kernel>();
  private readonly progress = new KernelProgress();
  private manyOps = MANY_OPS;
  private readonly lastMove = new Map<number, { at: Ticks }>();
  private lastComm = NaN;
  private last: { at: Ticks } = { at: 0 as Ticks };
  /** The newest work among `works`, because its operations come one after the other. */
  private lastWork: Work | null = null;

  /** `ops`: those in flight, owned by the caller. */
  constructor(private readonly ops: OpenSet<Op>) {}

  workStart(work: Work, at: Ticks): void {
    this.works.add(work);
    this.progress.workStart(work);
    this.moved(work, at);
  }

  workEnqueued(work: Work, at: Ticks): void {
    this.moved(work, at);
    this.forgetIfDone(work);
  }

  opStart(op: Op, at: Ticks): void {
    if (op.foreign) return;
    this.unfinished(op.work);
    this.progress.opStart(op);
    this.moved(op, at);
    if (this.ops.size > this.manyOps) this.forgetEndless();
  }

  opStop(op: Op, at: Ticks): void {
    if (op.foreign) return;
    this.moved(op, at);
    this.forgetIfDone(op.work);
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    this.unfinished(kernel.work);
    if (!kernel.isWithinBlock) this.kernels.add(kernel);
    this.progress.kernelStart(kernel);
    this.moved(kernel, at);
  }

  kernelStop(kernel: Kernel, at: Ticks): void {
    this.kernels.delete(kernel);
    this.progress.kernelStop(kernel);
    this.moved(kernel, at);
    this.forgetIfDone(kernel.work);
  }

  /** Call it when the endless operations are known. */
  finish(steps: StepTable, lostAfter: LostAfter = NOTHING_LOST): PendingAtEnd {
    const byWork = new Map<Work, PendingOp[]>();
    const lost = new Map<Work, number>();
    const mayHaveEnded = (work: Work | null, ring: number, sign: Ticks): void => {
      if (work) lost.set(work, Math.min(lost.get(work) ?? Infinity, lostAfter(ring, sign)));
    };
    for (const work of this.works) if (work.enqueued === null) mayHaveEnded(work, work.ring, work.start);
    for (const { work, ring, start } of this.kernels.all()) mayHaveEnded(work, ring, start);
    const foreign: { parent: bigint; op: PendingOp }[] = [];
    for (const op of this.ops.all()) {
      if (op.foreign) {
        foreign.push({ parent: op.foreign.parent, op: pendingOp(op, steps) });
        continue;
      }
      this.moved(op, op.lastMove);
      if (!op.work || op.isEndless) continue;
      addTo(byWork, op.work, pendingOp(op, steps));
      mayHaveEnded(op.work, op.ring, op.lastMove);
    }
    const blocks = this.progress.finish();
    const seen = new Map(blocks.map((one) => [one.work, one]));
    const unfinished = blocks.filter(({ state }) => state === 'unfinished');
    for (const { work, ring } of unfinished) mayHaveEnded(work, ring, work.start);
    const open = new Set([...[...this.works].filter(isOpen), ...unfinished.map(({ work }) => work)]);
    const works = [...open].sort((a, b) => a.start - b.start || a.row - b.row);
    return {
      works: works.map((work) => ({
        kind: work.kind,
        row: work.row,
        key: work.key,
        comm: work.comm?.number ?? null,
        func: work.func,
        seq: work.seq,
        ordinal: work.ordinal,
        peer: work.peer,
        start: work.start,
        group: work.group,
        ops: byWork.get(work) ?? [],
        blocks: blocksOf(seen.get(work)),
        lostSince: lost.get(work) ?? 0,
      })),
      unended: new Map(blocks.flatMap(({ work, state }) => (state === 'ended' ? [] : [[work.row, state]]))),
      foreign,
      lastMove: new Map([...this.lastMove].map(([comm, { at }]) => [comm, at])),
    };
  }

  private moved({ comm }: Pick<Work | Op | Kernel, 'comm'>, at: Ticks): void {
    const finalized = comm?.finalizeTick ?? null;
    if (finalized !== null && at > finalized) return;
    const number = comm?.number ?? UNKNOWN_COMM;
    if (number !== this.lastComm) {
      this.lastComm = number;
      this.last = this.lastMove.get(number) ?? { at };
      this.lastMove.set(number, this.last);
    }
    if (at > this.last.at) this.last.at = at;
  }

  private unfinished(work: Work | null): void {
    if (work === null || work === this.lastWork) return;
    this.works.add(work);
    this.lastWork = work;
  }

  /** Drops a work that is done. A later child puts it back. */
  private forgetIfDone(work: Work | null): void {
    if (!work || isOpen(work)) return;
    this.works.delete(work);
    if (work === this.lastWork) this.lastWork = null;
  }

  private forgetEndless(): void {
    for (const op of this.ops.all()) if (op.isEndless) this.ops.delete(op);
    for (const work of [...this.works]) this.forgetIfDone(work);
    this.manyOps = MANY_OPS + 2 * this.ops.size;
  }
}

const isOpen = (work: Work): boolean => work.openChildren > 0 || work.enqueued === null;

function blocksOf(seen: BlocksSeen | undefined): BlocksSeen | null {
  return seen ? { channels: seen.channels, begun: seen.begun, ended: seen.ended } : null;
}

function pendingOp(op: Op, steps: StepTable): PendingOp {
  const { channel, peer, isSend, nSteps, openSteps, stepsDone } = op;
  const oldest = openSteps.reduce<number | null>(
    (first, row) => (first === null || steps.number[row]! < steps.number[first]! ? row : first),
    null,
  );
  return {
    channel,
    peer,
    isSend,
    nSteps,
    done: stepsDone,
    step: oldest === null ? null : pendingStep(op, oldest, steps),
  };
}

function pendingStep({ roomWanted }: Op, row: number, steps: StepTable): PendingStep {
  const step = steps.number[row]!;
  const phase = steps.phaseOf(row);
  return phase === StepPhase.SendGpuWait && roomWanted !== null
    ? { step, phase: StepPhase.PeerWait, since: roomWanted }
    : { step, phase, since: steps.phaseSince[row] as Ticks };
}
