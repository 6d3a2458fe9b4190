/**
 * When a rank arrived at a collective: when its GPU arrived. A call only enqueues a kernel, and the kernel waits in its stream behind
 * others. The records bound the time from both sides. `at` is the best estimate. A rank is called late only if the bounds allow it.
 */

import { numberAt } from '../base/packed_numbers.js';
import type { TraceNs } from '../base/time.js';
import type { ArrivalBasis, ClusterMember } from './types.js';

/** ns: a GPU that waits for a peer's data goes on within this time after they came. */
const WAITED_FOR_DATA = 2e5;

/**
 * ns: on the host's clock a stamp is late by the shortest time that the proxy thread takes to notice a kernel. No record shows that time,
 * so the hard bound alone would allow any time. The thread polls all the time, so it takes at most this long.
 */
const NOTICE_TAKES = 1e6;

/** One object for all arrivals in turn, because a run has millions. */
export class Arrival {
  basis: ArrivalBasis = 'call';
  at = 0 as TraceNs;
  /** Lower and upper bound. */
  earliest = 0 as TraceNs;
  latest = 0 as TraceNs;
  /** When the host called. */
  called = 0 as TraceNs;

  constructor(private readonly member: ClusterMember) {}

  /** `free`: when the work before it in the same communicator was over. */
  find(row: number, free: number): void {
    const { works, time } = this.member;
    this.called = time(numberAt(works.arrival, row));
    const queued = Math.max(this.called, free) as TraceNs;
    this.set('call', queued, queued, queued);
    this.byKernel(row);
    this.byStep(row, queued);
  }

  private set(basis: ArrivalBasis, at: TraceNs, earliest: TraceNs, latest: TraceNs): void {
    this.basis = basis;
    this.at = at;
    this.earliest = earliest;
    this.latest = latest;
  }

  /** A stamp may be late by the time to notice a kernel, and early by the timer's step. The bounds of the GPU's clock are added. */
  private byKernel(row: number): void {
    const { called } = this;
    const { works, ends, time, gpuTime, gpuError } = this.member;
    const comm = numberAt(works.comm, row);
    const onAxis = gpuTime(comm);
    const stamp = numberAt(ends.kernelStamp, row);
    if (Number.isNaN(stamp) || onAxis === null) return;
    const { late, early } = gpuError(comm);
    const error = Math.min(late, NOTICE_TAKES);
    const noticed = time(numberAt(ends.kernelNoticed, row));
    const stamped = Math.min(onAxis(stamp), noticed);
    if (!(stamped >= called - error)) return;
    const at = Math.max(called, stamped) as TraceNs;
    const earliest = Math.max(called, at - error) as TraceNs;
    const latest = Math.max(at, Math.min(noticed, at + early)) as TraceNs;
    this.set('kernel', at, earliest, latest);
  }

  /** By the host's clock. The time is as exact as the proxy thread is quick. */
  private byStep(row: number, queued: TraceNs): void {
    const { ends, time } = this.member;
    if (Number.isNaN(numberAt(ends.step, row))) return;
    const at = Math.max(this.called, time(numberAt(ends.step, row))) as TraceNs;
    const waited = Number.isNaN(numberAt(ends.data, row)) ? Infinity : at - time(numberAt(ends.data, row));
    // The GPU waited for these data, so the rank may have arrived long before the data.
    const isAfterData = waited >= 0 && waited < WAITED_FOR_DATA;
    const earliest = isAfterData ? earlier(queued, at) : at;
    if (this.basis !== 'kernel') {
      this.set('step', at, earliest, at);
      return;
    }
    const first = earlier(this.at, at);
    this.set('kernel', first, earliest === at ? first : this.earliest, earlier(this.latest, at));
  }
}

const earlier = (a: TraceNs, b: TraceNs): TraceNs => (b < a ? b : a);
