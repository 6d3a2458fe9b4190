/**
 * When a rank arrived at a collective: when its GPU did. A call only enqueues, and the kernel waits in its stream behind others. The
 * records bound the time from both sides. `at` is the best guess, and a rank is called late only if the bounds allow it.
 */

import type { TraceNs } from '../base/time.js';
import type { ClusterMember } from './types.js';

/** The evidence: the first kernel's start, the first step that the GPU filled or consumed, or the call alone. */
export type ArrivalBasis = 'kernel' | 'step' | 'call';

export interface Arrival {
  readonly basis: ArrivalBasis;
  readonly at: TraceNs;
  /** Lower and upper bound. */
  readonly earliest: TraceNs;
  readonly latest: TraceNs;
  /** When the host called. */
  readonly called: TraceNs;
}

/** ns: a GPU that waits for a peer's data goes on within this time after they came. */
const WAITED_FOR_DATA = 2e5;

/** `free`: when the work before it in the same communicator was over. */
export function arrivalOf(member: ClusterMember, row: number, free: number): Arrival {
  const called = member.time(member.works.arrival[row]!);
  const queued = Math.max(called, free) as TraceNs;
  const kernel = kernelArrival(member, row, called);
  const step = stepArrival(member, row, called, queued);
  if (kernel && step) {
    // By the host's clock, and as exact as its proxy thread is quick.
    const at = earlier(kernel.at, step.at);
    const earliest = step.earliest === step.at ? at : kernel.earliest;
    return { ...kernel, at, earliest, latest: earlier(kernel.latest, step.latest) };
  }
  return kernel ?? step ?? { basis: 'call', at: queued, earliest: queued, latest: queued, called };
}

function stepArrival(
  { endOf, time }: ClusterMember,
  row: number,
  called: TraceNs,
  queued: TraceNs,
): Arrival | null {
  const { step, data } = endOf(row).gpu;
  if (step === null) return null;
  const at = Math.max(called, time(step)) as TraceNs;
  const waited = data === null ? Infinity : at - time(data);
  // Data that it had to have first: it may have come long before them.
  const isAfterData = waited >= 0 && waited < WAITED_FOR_DATA;
  return { basis: 'step', at, earliest: isAfterData ? earlier(queued, at) : at, latest: at, called };
}

/**
 * ns. A stamp moved to the host's clock is late by the shortest time of a notice, which cannot be observed: to the hard bound a GPU that
 * always begins late looks the same. The proxy thread polls all the time, so a notice takes at most this long.
 */
const NOTICE_TAKES = 1e6;

/** A stamp is late by the time of a notice and early by the timer's step, within the bounds of the GPU's clock. */
function kernelArrival(member: ClusterMember, row: number, called: TraceNs): Arrival | null {
  const { kernel } = member.endOf(row).gpu;
  const comm = member.works.comm[row]!;
  const gpuTime = member.gpuTime(comm);
  if (kernel === null || gpuTime === null) return null;
  const { late, early } = member.gpuError(comm);
  const error = Math.min(late, NOTICE_TAKES);
  const noticed = member.time(kernel.noticed);
  const stamped = Math.min(gpuTime(kernel.stamp), noticed);
  if (!(stamped >= called - error)) return null;
  const at = Math.max(called, stamped) as TraceNs;
  const earliest = Math.max(called, at - error) as TraceNs;
  const latest = Math.max(at, Math.min(noticed, at + early)) as TraceNs;
  return { basis: 'kernel', at, earliest, latest, called };
}

const earlier = (a: TraceNs, b: TraceNs): TraceNs => (b < a ? b : a);
