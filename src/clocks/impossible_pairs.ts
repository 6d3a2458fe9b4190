/**
 * Whether pairs certainly contradict each other, for any corrections: around a cycle of hosts, at one instant, a clock would be behind
 * itself. Between two pairs of one piece the line through the two holds, too, because corrections are straight there.
 */

import { firstIndex } from '../base/first_index.js';
import { knotTime, pieceAt, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import type { Arc } from './graph.js';
import { negativeCycle } from './negative_cycle.js';
import { alignedAt, shownAt } from './corrected_times.js';

/** ns per link. A smaller contradiction proves nothing, because hosts are compared at slightly different instants. */
const LEAST_NS = 1000;
/** A steeper line through two pairs says little about an instant beside them. */
const STEEPEST = 0.05;
/** A contradiction below this part of all delays around the cycle proves nothing, either. */
const PART = 0.1;

/** `corrections`: any that are nearly right. `instant`: on the common axis. False: the pairs may be possible, or not. */
export function isImpossibleAt(
  knots: Knots,
  corrections: readonly Float64Array[],
  hulls: readonly EdgeHull[],
  instant: number,
): boolean {
  const arcs: Arc[] = [];
  /** How far receivers can be ahead of their senders beyond the estimate, ns. */
  const lengths: number[] = [];
  const shown = corrections.map((values) => shownAt(knots, values, instant));
  for (const { from, to, hull } of hulls) {
    const time = shown[from]!;
    const right = firstFrom(hull, time);
    if (right < 2 || right === hull.length || !isWithin(knots, hull[right - 2]!, hull[right]!)) continue;
    const slope = (hull[right + 1]! - hull[right - 1]!) / (hull[right]! - hull[right - 2]!);
    if (Math.abs(slope) > STEEPEST) continue;
    const delay = hull[right - 1]! + slope * (time - hull[right - 2]!);
    const length = alignedAt(knots, corrections[to]!, time + delay) - instant;
    arcs.push({ from, to });
    lengths.push(length + LEAST_NS + PART * Math.abs(length));
  }
  return negativeCycle(corrections.length, arcs, Float64Array.from(lengths)) !== null;
}

/** Index of the first point at `time` or later. */
const firstFrom = (hull: EdgeHull['hull'], time: number): number =>
  2 * firstIndex(hull.length / 2, (point) => hull[2 * point]! >= time);

const isWithin = (knots: Knots, left: number, right: number): boolean => {
  const piece = pieceAt(knots, left);
  return right <= knotTime(knots, piece + 1) || piece === knots.count - 2;
};
