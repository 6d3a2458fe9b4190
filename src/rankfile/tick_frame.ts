/**
 * The range of a file's ticks: around its start, within the distance of format/ranges.ts. A tick outside of it is no time, and the reader
 * leaves its record out.
 */

import { type Ticks, ticks } from '../base/time.js';
import { farthestTick } from './format/ranges.js';
import type { RankFileHeader } from './file_types.js';

export interface TickFrame {
  /** The raw counter at the start. */
  readonly base: bigint;
  readonly farthest: number;
}

export const frameOf = ({ tickBase, tickHz }: Pick<RankFileHeader, 'tickBase' | 'tickHz'>): TickFrame => ({
  base: tickBase,
  farthest: farthestTick(tickHz),
});

/** Relative to the start, not before it; null outside of the frame. */
export function tickIn({ base, farthest }: TickFrame, raw: bigint): Ticks | null {
  const tick = Number(raw - base);
  return Math.abs(tick) <= farthest ? ticks(Math.max(0, tick)) : null;
}
