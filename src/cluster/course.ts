/**
 * A process's way through its works, row by row: when it arrived at each, and when it had nothing pending before. A rank is itself late
 * only if it had nothing pending: the last ranks of a collective begin the next one last.
 */

import type { TraceNs } from '../base/time.js';
import { arrivalOf, type Arrival } from './arrival.js';
import { freeAfter } from './ends.js';
import { numberAt } from '../model/wide_numbers.js';
import type { CallTable } from '../model/call_table.js';
import type { ClusterMember, Idle } from './types.js';

/** How a rank arrived at a collective. */
export interface Coming {
  readonly arrival: Arrival;
  /** Its GPU had no pending work then, and its host called when it had none. */
  readonly idle: Idle;
  readonly hostIdle: Idle;
  /** It waited from then on: its GPU had arrived, or was held up by an earlier call of the same communicator. */
  readonly waited: TraceNs;
}

/** ns: a GPU with nothing else to do begins within this time after the work before. */
const SOON = 1e6;

export class Course {
  private free = -Infinity;
  private idle: Idle = { from: -Infinity, to: 0 as TraceNs };
  private hostIdle = this.idle;
  /** By communicator: when all its work was over, and its last call, in ticks. */
  private readonly freeIn = new Map<number, number>();
  private readonly calledIn = new Map<number, number>();

  constructor(private readonly member: ClusterMember) {}

  /** Call it for all rows in turn. */
  comingOf(row: number): Coming {
    const { works, calledWithoutWork } = this.member;
    const comm = works.comm[row]!;
    const tick = works.arrival[row]!;
    const over = freeAfter(this.member, row);
    const before = this.freeIn.get(comm) ?? -Infinity;
    // Work that ends before work that was enqueued earlier runs at the same time.
    const arrival = arrivalOf(this.member, row, before < over ? before : -Infinity);
    if (this.free <= arrival.at) this.idle = { from: this.free, to: arrival.at };
    if (this.free <= arrival.called) this.hostIdle = { from: this.free, to: arrival.called };
    const isQueued = before > arrival.called && before < over && arrival.at - before <= SOON;
    const isHeldUp = isQueued || calledWithoutWork(comm, this.calledIn.get(comm) ?? -Infinity, tick);
    this.free = Math.max(this.free, over);
    if (over !== Infinity) this.freeIn.set(comm, Math.max(before, over));
    this.calledIn.set(comm, tick);
    const waited = isHeldUp ? arrival.called : arrival.latest;
    return { arrival, idle: this.idle, hostIdle: this.hostIdle, waited };
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
