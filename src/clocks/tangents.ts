/**
 * Narrows the bounds at one instant by the bounds at other instants. If a clock was not below `least` at one instant and not above `most`
 * at a later one, its rate between the two is limited. Afterwards it can have gone on no faster than that rate plus the declared change of
 * rates. So if a clock is well known at two instants, it is also known near them: by tangents to the bounds, bent by the declared
 * curvature.
 */

import { MAX_RATE } from './arc_limit.js';

/** How far a clock is ahead of another when that one shows `times` (rising): at most and at least, ns. */
export interface Band {
  readonly times: Float64Array;
  readonly most: Float64Array;
  readonly least: Float64Array;
  /** The estimate: it is inside the band and stays there. */
  readonly guess: Float64Array;
}

/**
 * Narrows the band in place, but not beyond the estimate. If clocks bend more than declared, no clock lies inside all bounds, and the
 * bounds would get narrower and narrower. `curvature`: most that either clock's rate changes, 1/ns. `near`: how many instants before and
 * after each one are used.
 */
export function narrow(band: Band, curvature: number, near: number): void {
  // Twice, because the result of one direction narrows that of the other.
  for (let round = 0; round < 2; round++) {
    sweep(band, curvature, near, 1);
    sweep(band, curvature, near, -1);
  }
}

/** Goes from one end to the other. Each instant passes on what it and the instants before it show. */
function sweep(band: Band, curvature: number, near: number, step: 1 | -1): void {
  const { times, most, least, guess } = band;
  const last = step > 0 ? times.length - 1 : 0;
  for (let i = times.length - 1 - last; i !== last; i += step) {
    const far = Math.abs(times[i + step]! - times[i]!);
    const bend = curvature * far;
    const end = endOf(times.length, near, i, step);
    const up = most[i]! + far * (steepest(band, 1, curvature, i, step, end) + bend);
    const down = least[i]! - far * (steepest(band, -1, curvature, i, step, end) + bend);
    const higher = Math.max(guess[i + step]!, up);
    const lower = Math.min(guess[i + step]!, down);
    if (higher < most[i + step]!) most[i + step] = higher;
    if (lower > least[i + step]!) least[i + step] = lower;
  }
}

/** Where looking back from `i` ends. */
const endOf = (count: number, near: number, i: number, step: 1 | -1): number =>
  step > 0 ? Math.max(-1, i - near - 1) : Math.min(count, i + near + 1);

/**
 * The fastest rate at which a clock can leave the band at `i` (`side` 1: upwards). The other side of the band limits where the clock came
 * from.
 */
function steepest(
  { times, most: high, least: low }: Band,
  side: 1 | -1,
  curvature: number,
  i: number,
  step: 1 | -1,
  end: number,
): number {
  const [here, there] = side > 0 ? [high, low] : [low, high];
  let least = MAX_RATE;
  for (let j = i - step; j !== end; j -= step) {
    const far = Math.abs(times[i]! - times[j]!);
    const rate = (side * (here[i]! - there[j]!)) / far + curvature * far;
    if (rate < least) least = rate;
  }
  return least;
}
