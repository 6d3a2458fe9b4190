/**
 * Goes through a process's works in order. It keeps when the process arrived at each work, and how long it had been idle before. A rank
 * counts as late only if it was idle: a rank that was still busy with the collective before is late because of that collective.
 */

import { firstIndex } from '../base/first_index.js';
import { numberAt } from '../base/packed_numbers.js';
import type { TraceNs } from '../base/time.js';
import { Arrival } from './arrival.js';
import { freeAfter } from './work_end_times.js';
import type { CallTable } from '../model/call_table.js';
import type { ClusterMember } from './types.js';

/** ns: a GPU with nothing else to do begins within this time after the work before. */
const SOON = 1e6;

export class RankWalk {
  readonly arrival: Arrival;
  /**
   * `idle…`: between these times its GPU had no pending work. `hostIdle…`: the same for its host, up to the call. -Infinity: no work before
   * this one.
   */
  idleFrom = -Infinity;
  idleTo = 0;
  hostIdleFrom = -Infinity;
  hostIdleTo = 0;
  /** From when on it waited: its GPU had arrived, or an earlier call of the same communicator held it up. */
  waited = 0 as TraceNs;
  private free = -Infinity;
  /** By communicator, in ticks: when all its work was over, and when its last call was. */
  private readonly freeIn = new Map<number, number>();
  private readonly calledIn = new Map<number, number>();

  constructor(private readonly member: ClusterMember) {
    this.arrival = new Arrival(member);
  }

  /** Call it for all rows in turn. */
  comeTo(row: number): void {
    const { arrival, free } = this;
    const { works, calledWithoutWork } = this.member;
    const comm = numberAt(works.comm, row);
    const tick = numberAt(works.arrival, row);
    const over = freeAfter(this.member, row);
    const before = this.freeIn.get(comm) ?? -Infinity;
    // Work that ends before work that was enqueued earlier runs at the same time.
    arrival.find(row, before < over ? before : -Infinity);
    if (free <= arrival.at) {
      this.idleFrom = free;
      this.idleTo = arrival.at;
    }
    if (free <= arrival.called) {
      this.hostIdleFrom = free;
      this.hostIdleTo = arrival.called;
    }
    const isQueued = before > arrival.called && before < over && arrival.at - before <= SOON;
    const isHeldUp = isQueued || calledWithoutWork(comm, this.calledIn.get(comm) ?? -Infinity, tick);
    this.free = Math.max(free, over);
    if (over !== Infinity) this.freeIn.set(comm, Math.max(before, over));
    this.calledIn.set(comm, tick);
    this.waited = isHeldUp ? arrival.called : arrival.latest;
  }
}

/** Calls of collectives (CollApi) for which NCCL reported no Coll. */
export function callsWithoutWork(calls: CallTable): ClusterMember['calledWithoutWork'] {
  return (comm, from, to) => {
    const found = calls.comms.get(comm);
    if (!found || found.hasCaptured) return false;
    const next = firstIndex(found.shape.length, (i) => numberAt(found.at, i) > from);
    return next < found.shape.length && numberAt(found.at, next) < to;
  };
}
