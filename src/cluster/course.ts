/**
 * A process's way through its works, row by row: when it arrived at each, and when it had nothing pending before. A rank is itself late
 * only if it had nothing pending: the last ranks of a collective begin the next one last.
 */

import type { TraceNs } from '../base/time.js';
import { Arrival } from './arrival.js';
import { freeAfter } from './ends.js';
import { numberAt } from '../model/wide_numbers.js';
import type { CallTable } from '../model/call_table.js';
import type { ClusterMember } from './types.js';

/** ns: a GPU with nothing else to do begins within this time after the work before. */
const SOON = 1e6;

/** Where it is: at one row after the other. */
export class Course {
  readonly arrival: Arrival;
  /** Its GPU had no pending work then, and its host called when it had none. `from` -Infinity: it had not begun anything before. */
  idleFrom = -Infinity;
  idleTo = 0;
  hostIdleFrom = -Infinity;
  hostIdleTo = 0;
  /** It waited from then on: its GPU had arrived, or was held up by an earlier call of the same communicator. */
  waited = 0 as TraceNs;
  private free = -Infinity;
  /** By communicator: when all its work was over, and its last call, in ticks. */
  private readonly freeIn = new Map<number, number>();
  private readonly calledIn = new Map<number, number>();

  constructor(private readonly member: ClusterMember) {
    this.arrival = new Arrival(member);
  }

  /** Call it for all rows in turn. */
  comeTo(row: number): void {
    const { arrival, free } = this;
    const { works, calledWithoutWork } = this.member;
    const comm = works.comm[row]!;
    const tick = works.arrival[row]!;
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
    // The first one after `from`.
    let [low, high] = [0, found.shape.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numberAt(found.at, middle) <= from) low = middle + 1;
      else high = middle;
    }
    return low < found.shape.length && numberAt(found.at, low) < to;
  };
}
