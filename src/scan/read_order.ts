/**
 * The rings of a running job are read or copied one after the other. A thread whose ring came first may have made later calls that are not
 * in the file, while a later ring contains its thread's calls of that time.
 */

import { maxOf, minOf } from '../base/extremes.js';
import type { Ticks } from '../base/time.js';
import type { FileFacts } from '../rankfile/file_types.js';

/** ns: others may have been copied up to this much later. */
export const COPIED_WITHIN = 30e9;

/** ns */
const SURELY_COPIED_WITHIN = 2 * COPIED_WITHIN;

/**
 * Ticks: up to here the file has the calls of all threads. Infinity: only calls after all recorded ones can be missing. `newest`: the
 * newest record of each ring of a calling thread.
 */
export function callsUntil(
  { header, heartbeat }: Pick<FileFacts, 'header' | 'heartbeat'>,
  newest: readonly Ticks[],
): number {
  if (header.life === 'closed' || newest.length < 2) return Infinity;
  const leastNew = minOf(newest);
  if (header.placement !== 'in-file') return Math.max(leastNew, header.copiedTick ?? 0);
  // No thread had called for much longer than a copy takes. So no ring was read before the last call of another ring.
  const quiet = ((heartbeat?.tick ?? 0) - maxOf(newest)) * (1e9 / header.tickHz);
  return quiet >= SURELY_COPIED_WITHIN ? Infinity : leastNew;
}
