/** When a work was over, on the trace's axis. */

import type { TraceNs } from '../base/time.js';
import { kernelsEnd } from '../model/work_end.js';
import type { ClusterMember } from './types.js';

/** The end of a work; when it was enqueued, if no end is reported. Infinity: it is open. */
export function freeAfter(member: ClusterMember, row: number): number {
  const end = member.endOf(row);
  if (end.outcome === 'open') return Infinity;
  const enqueued = member.works.enqueued[row]!;
  const over = overAt(member, row);
  return over ?? (Number.isNaN(enqueued) ? -Infinity : member.time(enqueued));
}

/**
 * The end of the last child. A kernel ends by the GPU's clock if that is known and possible, a send executed by another process by that
 * process's records, an aborted child when its communicator was finalized.
 */
export function overAt({ works, endOf, time, gpuTime }: ClusterMember, row: number): TraceNs | null {
  const end = endOf(row);
  let latest = end.elsewhere?.lastEnd ?? null;
  if (end.lastOp !== null) latest = later(latest, time(end.lastOp));
  if (end.finalized !== null) latest = later(latest, time(end.finalized));
  if (end.lastKernel) {
    const { stamps, noticed } = end.lastKernel;
    const onAxis = gpuTime(works.comm[row]!);
    const stamped = stamps && onAxis && { first: onAxis(stamps.first), last: onAxis(stamps.last) };
    latest = later(latest, kernelsEnd(stamped, time(works.arrival[row]!), time(noticed)));
  }
  return latest;
}

function later(a: TraceNs | null, b: TraceNs | null): TraceNs | null {
  if (a === null || b === null) return a ?? b;
  return b > a ? b : a;
}
