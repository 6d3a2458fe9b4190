/**
 * Goes through a process's works in order. It keeps when the process arrived at each work, and how long its GPU had been idle before. A rank
 * counts as late only if it was idle: a rank that was still busy with the collective before is late because of that collective.
 */

import { entryOf } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import { firstIndex } from '../base/first_index.js';
import type { TraceNs } from '../base/time.js';
import { Arrival } from './arrival.js';
import { overAt } from './work_end_times.js';
import type { CallTable } from '../model/call_table.js';
import type { WorkOutcome } from '../model/work_end.js';
import { outcomeAt } from '../model/work_end_table.js';
import type { ClusterCommunicator, ClusterMember } from './collective_types.js';

/** ns: a GPU with nothing else to do begins within this time after the work before. */
const SOON = 1e6;

export class RankWalk {
  readonly arrival: Arrival;
  outcome: WorkOutcome = 'open';
  /** When the work was over, TraceNs; NaN: it is open, or its end is not known. */
  over = NaN;
  /** Between these times its GPU had no pending work, and its host up to its call. */
  readonly idle = { from: -Infinity, to: 0 };
  readonly hostIdle = { from: -Infinity, to: 0 };
  /** From when on it waited: its GPU had arrived, or an earlier call of the same communicator held it up. */
  waited = 0 as TraceNs;
  private readonly busy: BusyGpus;
  /** By communicator, in ticks: when all its work was over, and when its last call was. */
  private readonly freeIn = new Map<number, number>();
  private readonly calledIn = new Map<number, number>();

  constructor(private readonly member: ClusterMember) {
    this.arrival = new Arrival(member);
    this.busy = new BusyGpus(member.communicators);
  }

  /** Call it for all rows in turn. */
  comeTo(row: number): void {
    const { arrival } = this;
    const { works, ends, calledWithoutWork } = this.member;
    const comm = works.comm[row]!;
    const tick = works.arrival[row]!;
    this.outcome = outcomeAt(ends, row);
    this.over = this.outcome === 'open' ? NaN : overAt(this.member, row);
    const isKnown = this.outcome === 'open' || !Number.isNaN(this.over);
    const over = this.outcome === 'open' ? Infinity : isKnown ? this.over : this.enqueued(row);
    const before = this.freeIn.get(comm) ?? -Infinity;
    // Work that ends before work that was enqueued earlier runs at the same time.
    arrival.find(row, before < over ? before : -Infinity);
    this.findIdle(comm);
    const isQueued = before > arrival.called && before < over && arrival.at - before <= SOON;
    const isHeldUp = isQueued || calledWithoutWork(comm, this.calledIn.get(comm) ?? -Infinity, tick);
    this.busy.of(comm).leaves(over, isKnown, works.seq[row]! < 0);
    if (over !== Infinity) this.freeIn.set(comm, Math.max(before, over));
    this.calledIn.set(comm, tick);
    this.waited = isHeldUp ? arrival.called : arrival.isOwn ? arrival.latest : arrival.at;
  }

  private enqueued(row: number): number {
    const { works, time } = this.member;
    const enqueued = works.enqueued[row]!;
    return Number.isNaN(enqueued) ? -Infinity : time(enqueued);
  }

  private findIdle(comm: number): void {
    const { arrival } = this;
    const free = this.busy.freeFor(comm, arrival.called);
    if (free <= arrival.at) {
      this.idle.from = Math.max(free, arrival.since);
      this.idle.to = arrival.at;
    }
    if (free <= arrival.called) {
      this.hostIdle.from = free;
      this.hostIdle.to = arrival.called;
    }
  }
}

/** Until when the process's work keeps a GPU busy. */
class Busy {
  free = -Infinity;
  /** There are sends or receives whose end is not known, and it may wait in them: at the latest until work that was called later is over. */
  mayWait = false;
  surely = Infinity;

  /** If the end is not known, only all ranks together show how long it can have waited (verdict/slowness.ts). */
  leaves(over: number, isKnown: boolean, isTransfer: boolean): void {
    if (isKnown) {
      this.free = Math.max(this.free, over);
      if (this.mayWait) this.surely = Math.min(this.surely, over);
    } else if (isTransfer) {
      this.mayWait = true;
      this.surely = Infinity;
    }
  }

  freeAt(called: number): number {
    if (this.surely <= called) this.mayWait = false;
    return this.mayWait ? Infinity : this.free;
  }
}

/**
 * Two ranks of one communicator in one process have a GPU each, so the work of one does not keep the other busy. Of other communicators it is not
 * known which GPU they have, so their work counts for all.
 */
class BusyGpus {
  private readonly rest = new Busy();
  /** By number of the communicator: its own, and all that count for it. Empty: the process has one GPU. */
  private readonly own = new Map<number, Busy>();
  private readonly all = new Map<number, readonly Busy[]>();

  constructor(communicators: readonly ClusterCommunicator[]) {
    const ranks = new Map<bigint, Set<number>>();
    for (const { commId, rank } of communicators) entryOf(ranks, commId, () => new Set()).add(rank);
    if (![...ranks].some(([commId, some]) => commId !== 0n && some.size > 1)) return;
    for (const { number } of communicators) this.own.set(number, new Busy());
    for (const { number, commId, rank } of communicators) {
      const counts = communicators.filter(
        (one) => commId === 0n || one.commId !== commId || one.rank === rank,
      );
      this.all.set(number, [this.rest, ...counts.map((one) => this.own.get(one.number)!)]);
    }
  }

  of(comm: number): Busy {
    return this.own.get(comm) ?? this.rest;
  }

  /** Infinity: it may be busy at any time. */
  freeFor(comm: number, called: number): number {
    const all = this.all.get(comm);
    return all === undefined ? this.rest.freeAt(called) : maxOf(all.map((one) => one.freeAt(called)));
  }
}

/** Calls of collectives (CollApi) for which NCCL reported no Coll. */
export function callsWithoutWork(calls: CallTable): ClusterMember['calledWithoutWork'] {
  return (comm, from, to) => {
    const found = calls.comms.get(comm);
    if (!found || found.hasCaptured) return false;
    const next = firstIndex(found.shape.length, (i) => found.at[i]! > from);
    return next < found.shape.length && found.at[next]! < to;
  };
}
