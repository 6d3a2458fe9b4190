/**
 * Finds pending work whose end may be among lost records. A gap in the work's ring after its last sign of life may hold the end, unless a
 * later record shows the work still going on.
 */

import type { Gap, LossCause } from '../rankfile/file_types.js';

export type LostGap = Gap & { readonly cause: LossCause };

/** Gaps whose records are lost. The records of other gaps exist but were not read. */
export const lostGaps = (gaps: readonly Gap[]): readonly LostGap[] =>
  gaps.filter((gap): gap is LostGap => gap.cause !== 'unread');

export const unreadGaps = (gaps: readonly Gap[]): readonly Gap[] =>
  gaps.filter(({ cause }) => cause === 'unread');

/** Number of lost slots of a ring that were written after a tick. */
export type LostAfter = (ring: number, tick: number) => number;

/** `which`: the gaps that count. */
export function lostAfter(
  rings: readonly { readonly ring: number; readonly gaps: readonly Gap[] }[],
  which: (gaps: readonly Gap[]) => readonly Gap[] = (gaps) => gaps,
): LostAfter {
  const gaps = new Map(rings.map((one) => [one.ring, which(one.gaps)]));
  return (ring, tick) =>
    (gaps.get(ring) ?? [])
      .filter(({ beforeTick }) => beforeTick === null || beforeTick > tick)
      .reduce((slots, { from, end }) => slots + end - from, 0);
}
