/**
 * Whether pairs contradict each other for certain, whatever the corrections: around a cycle of hosts, all asked about one instant, they
 * say that a clock is behind itself. Between two pairs of one piece the line through them holds too, for there corrections are straight.
 */

import { firstIndex } from '../base/search.js';
import { knotTime, pieceAt, type Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import type { Arc } from './graph.js';
import { EACH_NS, negativeCycle } from './negative_cycle.js';
import { alignedAt, shownAt } from './shown.js';

/** A cycle says nothing for certain by less, ns: hosts are not asked at quite the same instant... */
const LEAST_NS = 2000;
/** Steeper than this a line through two pairs says little of an instant beside... */
const STEEPEST = 0.05;
/** ...and this part of all delays round the cycle is more than what hosts can be asked beside it. */
const PART = 0.1;

/** `corrections`: any that are nearly right. `instant`: of the common axis. False: that may be, or not. */
export function isImpossibleAt(
  knots: Knots,
  corrections: readonly Float64Array[],
  hulls: readonly EdgeHull[],
  instant: number,
): boolean {
  const arcs: Arc[] = [];
  const lengths: number[] = [];
  const shown = corrections.map((values) => shownAt(knots, values, instant));
  for (const { from, to, hull } of hulls) {
    const time = shown[from]!;
    const right = firstFrom(hull, time);
    if (right < 2 || right === hull.length || !isWithin(knots, hull[right - 2]!, hull[right]!)) continue;
    const slope = (hull[right + 1]! - hull[right - 1]!) / (hull[right]! - hull[right - 2]!);
    if (Math.abs(slope) > STEEPEST) continue;
    const delay = hull[right - 1]! + slope * (time - hull[right - 2]!);
    // By how much the receiver can be ahead of the sender beyond the estimate.
    const ahead = alignedAt(knots, corrections[to]!, time + delay) - instant;
    arcs.push({ from, to });
    lengths.push(ahead + PART * Math.abs(ahead));
  }
  const cycle = negativeCycle(corrections.length, arcs, Float64Array.from(lengths));
  return cycle !== null && cycle.by > LEAST_NS + EACH_NS * cycle.nodes.length;
}

/** Index of the first point at `time` or later. */
const firstFrom = (hull: EdgeHull['hull'], time: number): number =>
  2 * firstIndex(hull.length / 2, (point) => hull[2 * point]! >= time);

const isWithin = (knots: Knots, left: number, right: number): boolean => {
  const piece = pieceAt(knots, left);
  return right <= knotTime(knots, piece + 1) || piece === knots.count - 2;
};
