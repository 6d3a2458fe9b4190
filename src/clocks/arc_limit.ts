/**
 * By how much one clock can be ahead of another, as far as the pairs from the one to the other say. A pair says it for one
 * instant: its sender's clock showed `time`, its receiver's no more than `time + delay`. Between two pairs clocks may bend by the
 * declared curvature. Beside a pair they drift apart no faster than two rates, which differ from piece to piece.
 *
 * Nothing here is estimated: times are those of the sender's clock, and delays differences of what the two clocks show.
 */

import { pieceAt, knotTime, type Knots } from './corrections.js';

/** No two counters run faster apart, each by its nominal rate. */
export const MAX_RATE = 400e-6;

/** Per piece, how fast the receiver's clock gains on the sender's: at least and at most. Dimensionless. */
export interface GainRates {
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/**
 * At each of `times` (of the sender's clock, rising) the most that the receiver's can be ahead of it, ns. `hull`: time, delay, ...
 * by rising time, not empty. `curvature`: most that either clock's rate changes, 1/ns.
 */
export function mostAhead(
  hull: readonly number[],
  times: Float64Array,
  knots: Knots,
  gain: GainRates,
  curvature: number,
): Float64Array {
  const limits = new Float64Array(times.length);
  let at = 0;
  let ahead = Infinity;
  let since = 0;
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!;
    while (at < hull.length && hull[at]! <= time) {
      const kept = ahead + gained(knots, gain.most, since, hull[at]!);
      ahead = Math.min(kept, hull[at + 1]!);
      since = hull[at]!;
      at += 2;
    }
    const later = ahead + gained(knots, gain.most, since, time);
    limits[i] = Math.min(later, at > 0 && at < hull.length ? chord(hull, at, time, curvature) : Infinity);
  }
  at = hull.length - 2;
  ahead = Infinity;
  for (let i = times.length - 1; i >= 0; i--) {
    const time = times[i]!;
    while (at >= 0 && hull[at]! >= time) {
      const kept = ahead - gained(knots, gain.least, hull[at]!, since);
      ahead = Math.min(kept, hull[at + 1]!);
      since = hull[at]!;
      at -= 2;
    }
    limits[i] = Math.min(limits[i]!, ahead - gained(knots, gain.least, time, since));
  }
  return limits;
}

/** Between the point at `right` and the one before it. */
function chord(hull: readonly number[], right: number, time: number, curvature: number): number {
  const before = time - hull[right - 2]!;
  const behind = hull[right]! - time;
  const delay = (hull[right - 1]! * behind + hull[right + 1]! * before) / (before + behind);
  return delay + curvature * before * behind;
}

/** Of a clock at these rates, from one time to a later one; the outer rates hold beyond the knots. */
function gained(knots: Knots, rates: Float64Array, from: number, to: number): number {
  let piece = pieceAt(knots, from);
  const last = pieceAt(knots, to);
  let sum = 0;
  let at = from;
  for (; piece < last; piece++) {
    const border = knotTime(knots, piece + 1);
    sum += rates[piece]! * (border - at);
    at = border;
  }
  return sum + rates[piece]! * (to - at);
}
