/** When a work ended, on the trace's axis. */

import type { TraceNs } from '../base/time.js';
import type { GpuNs } from '../model/work_end.js';
import { kernelsEnd } from '../model/work_end.js';
import type { ClusterMember } from './collective_types.js';

/**
 * The end of the last child, TraceNs; NaN: not known. A kernel's end is by the GPU's clock, if that is known and possible. The end of a
 * send that another process executed is by that process's records. An aborted child ended when its communicator was finalized.
 */
export function overAt(member: ClusterMember, row: number): number {
  const { ends, time } = member;
  let latest = ends.elsewhere.get(row)?.lastEnd ?? -Infinity;
  const lastOp = ends.lastOp[row]!;
  if (!Number.isNaN(lastOp)) latest = Math.max(latest, time(lastOp));
  const finalized = ends.finalized.get(row);
  if (finalized !== undefined) latest = Math.max(latest, time(finalized));
  if (!Number.isNaN(ends.noticed[row]!)) latest = Math.max(latest, kernelsOver(member, row));
  return latest === -Infinity ? NaN : latest;
}

function kernelsOver({ works, ends, time, gpuTime }: ClusterMember, row: number): TraceNs {
  const [first, last] = [ends.firstStamp[row]! as GpuNs, ends.lastStamp[row]! as GpuNs];
  const onAxis = Number.isNaN(first) ? null : gpuTime(works.comm[row]!);
  const stamped = onAxis && { first: onAxis(first), last: onAxis(last) };
  return kernelsEnd(stamped, time(works.arrival[row]!), time(ends.noticed[row]!));
}
