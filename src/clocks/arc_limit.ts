/**
 * How far one clock can be ahead of another, by the pairs in one direction. A pair bounds one instant: its sender's clock showed `time`,
 * its receiver's clock showed at most `time + delay`. Between two pairs clocks may bend by the declared curvature. Beside a pair they drift
 * apart no faster than any two counters. Nothing is estimated here: times are the sender's, and delays are differences of the two clocks.
 */

/** Two counters' rates, relative to nominal, differ at most by this. */
export const MAX_RATE = 400e-6;

/**
 * At each of `times` (of the sender's clock, rising): how far the receiver's clock can be ahead of it at most, ns. `hull`: time, delay, ...
 * by rising time, not empty. `curvature`: most that either clock's rate changes, 1/ns.
 */
export function mostAhead(hull: ArrayLike<number>, times: Float64Array, curvature: number): Float64Array {
  const limits = new Float64Array(times.length);
  const origin = hull[0]!;
  // A pair's bound at another time grows with the drift: the least of (delay - drift) is the bound of all.
  let at = 0;
  let least = Infinity;
  for (let i = 0; i < times.length; i++) {
    const time = times[i]!;
    for (; at < hull.length && hull[at]! <= time; at += 2)
      least = Math.min(least, hull[at + 1]! - MAX_RATE * (hull[at]! - origin));
    const inside = at > 0 && at < hull.length;
    const chord = inside ? chordAt(hull, at, time, curvature) : Infinity;
    limits[i] = Math.min(least + MAX_RATE * (time - origin), chord);
  }
  at = hull.length - 2;
  least = Infinity;
  for (let i = times.length - 1; i >= 0; i--) {
    const time = times[i]!;
    for (; at >= 0 && hull[at]! >= time; at -= 2)
      least = Math.min(least, hull[at + 1]! + MAX_RATE * (hull[at]! - origin));
    limits[i] = Math.min(limits[i]!, least - MAX_RATE * (time - origin));
  }
  return limits;
}

/** Between the point at `right` and the one before it. */
function chordAt(hull: ArrayLike<number>, right: number, time: number, curvature: number): number {
  const before = time - hull[right - 2]!;
  const behind = hull[right]! - time;
  const delay = (hull[right - 1]! * behind + hull[right + 1]! * before) / (before + behind);
  return delay + curvature * before * behind;
}
