/**
 * How far one clock can be ahead of another, by the pairs in one direction. A pair bounds one instant: its sender's clock showed `time`,
 * its receiver's clock showed at most `time + delay`. Between two pairs clocks may bend by the declared curvature. Beside a pair they drift
 * apart at most at the difference of their rates, which are bounded per piece. Nothing is estimated here: times are the sender's, and
 * delays are differences of the two clocks.
 */

import { pieceAt, knotTime, type Knots } from './corrections.js';

/** Two counters' rates, relative to nominal, differ at most by this. */
export const MAX_RATE = 400e-6;

/** Per piece, how fast the receiver's clock gains on the sender's: lower and upper bound. Dimensionless. */
export interface GainRates {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/**
 * At each of `times` (of the sender's clock, rising): how far the receiver's clock can be ahead of it at most, ns. `hull`: time, delay, ...
 * by rising time, not empty. `curvature`: most that either clock's rate changes, 1/ns.
 */
export function mostAhead(
  hull: ArrayLike<number>,
  times: Float64Array,
  knots: Knots,
  gain: GainRates,
  curvature: number,
): Float64Array {
  const limits = new Float64Array(times.length);
  const mostAtKnots = gainedAtKnots(knots, gain.most);
  const leastAtKnots = gainedAtKnots(knots, gain.least);
  // A pair's bound at another time grows with the gain: the least of (delay - gain) is the bound of all.
  let at = 0;
  let least = Infinity;
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!;
    for (; at < hull.length && hull[at]! <= time; at += 2)
      least = Math.min(least, hull[at + 1]! - gained(knots, gain.most, mostAtKnots, hull[at]!));
    const inside = at > 0 && at < hull.length;
    const later = least + gained(knots, gain.most, mostAtKnots, time);
    limits[i] = Math.min(later, inside ? chord(hull, at, time, curvature) : Infinity);
  }
  at = hull.length - 2;
  least = Infinity;
  for (let i = times.length - 1; i >= 0; i--) {
    const time = times[i]!;
    for (; at >= 0 && hull[at]! >= time; at -= 2)
      least = Math.min(least, hull[at + 1]! - gained(knots, gain.least, leastAtKnots, hull[at]!));
    limits[i] = Math.min(limits[i]!, least + gained(knots, gain.least, leastAtKnots, time));
  }
  return limits;
}

/** Between the point at `right` and the one before it. */
function chord(hull: ArrayLike<number>, right: number, time: number, curvature: number): number {
  const before = time - hull[right - 2]!;
  const behind = hull[right]! - time;
  const delay = (hull[right - 1]! * behind + hull[right + 1]! * before) / (before + behind);
  return delay + curvature * before * behind;
}

/** What a clock at these rates has gained at each knot since the first knot. */
function gainedAtKnots(knots: Knots, rates: Float64Array): Float64Array {
  const gains = new Float64Array(rates.length);
  for (let k = 1; k < rates.length; k++) gains[k] = gains[k - 1]! + rates[k - 1]! * knots.step;
  return gains;
}

/** What it has gained at a time; the outer rates hold beyond the knots. */
function gained(knots: Knots, rates: Float64Array, atKnots: Float64Array, time: number): number {
  const piece = pieceAt(knots, time);
  return atKnots[piece]! + rates[piece]! * (time - knotTime(knots, piece));
}
