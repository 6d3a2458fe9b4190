/**
 * Where the ticks of one file can be: around its start, no further from it than the range of format/ranges.ts allows. A
 * tick outside is no time; what bears it is left out where it is read.
 */

import { type Ticks, ticks } from '../base/time.js';
import { farthestTick } from './format/ranges.js';
import type { RankFileHeader } from './types.js';

export interface TickFrame {
  /** The raw counter at the start. */
  readonly base: bigint;
  readonly farthest: number;
}

export const frameOf = ({ tickBase, tickHz }: Pick<RankFileHeader, 'tickBase' | 'tickHz'>): TickFrame => ({
  base: tickBase,
  farthest: farthestTick(tickHz),
});

/** Relative to the start, nothing being older than that; null where it is outside the frame. */
export function tickIn({ base, farthest }: TickFrame, raw: bigint): Ticks | null {
  const tick = Number(raw - base);
  return Math.abs(tick) <= farthest ? ticks(Math.max(0, tick)) : null;
}
