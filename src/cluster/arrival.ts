/**
 * When a rank came to a collective: when its GPU did. A call only enqueues; the kernel waits in its stream behind others. What is
 * recorded bounds the moment from both sides; `at` is the best guess, and lateness is claimed only where the bounds allow it.
 */

import type { TraceNs } from '../base/time.js';
import type { ClusterMember } from './types.js';

/** What tells: the first kernel's start, the first step that the GPU fed or took from, or the call alone. */
export type ArrivalBasis = 'kernel' | 'step' | 'call';

export interface Arrival {
  readonly basis: ArrivalBasis;
  readonly at: TraceNs;
  /** Not before, and not after. */
  readonly earliest: TraceNs;
  readonly latest: TraceNs;
  /** When the host called. */
  readonly called: TraceNs;
}

/** ns: so soon after a peer's data came a GPU goes on that was there and waited for them. */
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
  { ends, time }: ClusterMember,
  row: number,
  called: TraceNs,
  queued: TraceNs,
): Arrival | null {
  const { step, data } = ends[row]!.gpu;
  if (step === null) return null;
  const at = Math.max(called, time(step)) as TraceNs;
  const waited = data === null ? Infinity : at - time(data);
  // Data that it had to have first: it may have come long before them.
  const isAfterData = waited >= 0 && waited < WAITED_FOR_DATA;
  return { basis: 'step', at, earliest: isAfterData ? earlier(queued, at) : at, latest: at, called };
}

/**
 * ns. A stamp moved to the host's clock is late by the shortest time that a notice took, which nothing observes: a GPU that always
 * begins late looks the same to the hard bound. The proxy thread polls all the time; more than this it does not take.
 */
const NOTICE_TAKES = 1e6;

/** A stamp is late by what a notice takes, and early by the timer's step: as far as the GPU's clock is bounded. */
function kernelArrival(member: ClusterMember, row: number, called: TraceNs): Arrival | null {
  const { kernel } = member.ends[row]!.gpu;
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
