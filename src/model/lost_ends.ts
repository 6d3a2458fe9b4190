/**
 * What looks unfinished because its end is among lost records. A gap in its own ring behind its last sign of life may hold the end;
 * a later record of it says that it does not.
 */

import type { Ticks } from '../base/time.js';
import type { Gap } from '../rankfile/types.js';

/** How many slots of a ring are lost that were written after a tick. */
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
