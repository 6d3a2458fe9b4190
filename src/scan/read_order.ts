/**
 * The rings of a job that runs are read, or copied, one after the other: a thread whose ring came first may have called since what is
 * not in the file, and another one, whose ring came later, has in its own what it called after that.
 */

import { maxOf, minOf } from '../base/extremes.js';
import type { Ticks } from '../base/time.js';
import type { FileFacts } from '../rankfile/types.js';

/** ns: so much later others may have been copied. */
export const COPIED_WITHIN = 30e9;

/** ns */
const SURELY_COPIED_WITHIN = 2 * COPIED_WITHIN;

/**
 * Ticks: up to here the calls of all threads are in the file. `newest`: of each ring of a thread that calls. Infinity: nothing else is
 * missing than what came after all that is there.
 */
export function callsUntil(
  { header, heartbeat }: Pick<FileFacts, 'header' | 'heartbeat'>,
  newest: readonly Ticks[],
): number {
  if (header.life === 'closed' || newest.length < 2) return Infinity;
  const leastNew = minOf(newest);
  if (header.placement !== 'in-file') return Math.max(leastNew, header.copiedTick ?? 0);
  // Nobody had called anything for much longer than a copy takes: no ring was read before the last call of another one.
  const quiet = ((heartbeat?.tick ?? 0) - maxOf(newest)) * (1e9 / header.tickHz);
  return quiet >= SURELY_COPIED_WITHIN ? Infinity : leastNew;
}
