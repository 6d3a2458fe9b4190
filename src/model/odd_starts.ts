/** What is odd about an event that starts. The event is drawn as usual. Here it is counted and reported. */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../rankfile/types.js';
import type { OddRecords } from './odd_records.js';
import { typeOf } from './stoppable.js';
import { NET_ID, type HostSpan, type Kernel, type Op, type Work } from './types.js';

/** The newest version of the profiler interface that this release knows. */
const NEWEST_ABI = 7;

export function checkInterfaces(communicators: Iterable<Communicator>, odd: OddRecords): void {
  for (const { abi } of communicators)
    if (abi < 1 || abi > NEWEST_ABI) odd.unknown(`profiler interface v${abi}`);
}

export function checkHostStart(span: HostSpan, at: Ticks, odd: OddRecords): void {
  const { facts } = span;
  if (isLate(span, at)) odd.afterFinalize(span.kind, at);
  if (facts?.kind === 'unknown') odd.unknown(`event type 0x${facts.type.toString(16)}`);
  if (facts?.kind === 'NetPlugin' && !isKnownNet(facts.id))
    odd.unknown(`net plugin 0x${facts.id.toString(16)}`);
}

export function checkStart(event: Work | Op | Kernel, at: Ticks, odd: OddRecords): void {
  if (event.parent === 'stale') odd.staleParent(typeOf(event), at);
  if (event.parent === 'again') odd.startAgain(typeOf(event), at);
  if (isLate(event, at)) odd.afterFinalize(typeOf(event), at);
}

/** The finalize of a foreign communicator is in ticks of the other process's file. */
function isLate(event: HostSpan | Work | Op | Kernel, at: Ticks): boolean {
  if (event.type === 'op' && event.foreign !== null) return false;
  const finalized = event.comm?.finalizeTick ?? null;
  return finalized !== null && at > finalized;
}

const isKnownNet = (id: bigint): boolean => id === NET_ID.InfiniBand || id === NET_ID.Socket;
