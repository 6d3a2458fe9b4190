/**
 * Pending work whose end may be among lost records. A gap in its ring after its last sign of life may hold the end, unless a later record
 * shows it still going on.
 */

import type { Ticks } from '../base/time.js';
import type { Gap } from '../rankfile/types.js';

/** Number of lost slots of a ring that were written after a tick. */
export type LostAfter = (ring: number, tick: Ticks) => number;

export function lostAfter(
  rings: readonly { readonly ring: number; readonly gaps: readonly Gap[] }[],
): LostAfter {
  const gaps = new Map(rings.filter((one) => one.gaps.length > 0).map((one) => [one.ring, one.gaps]));
  return (ring, tick) =>
    (gaps.get(ring) ?? [])
      .filter(({ beforeTick }) => beforeTick === null || beforeTick > tick)
      .reduce((slots, { from, end }) => slots + end - from, 0);
}

export const NOTHING_LOST: LostAfter = () => 0;
