/**
 * What bounds at other instants say of one. A clock that lay no lower than `least` at one instant and no higher than `most` at
 * a later one went no faster in between, and can have gone on no faster than that and what its rate may have changed. So where
 * a clock is well known twice, it is known beside that as well: by tangents to the bounds, bent by the declared curvature.
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

/** How fast a band may widen beyond its ends, per side; dimensionless. */
export interface Opening {
  readonly most: number;
  readonly least: number;
}

export interface Openings {
  readonly before: Opening;
  readonly behind: Opening;
}

/**
 * Narrows the band in place, but not beyond the estimate: where clocks bend more than is declared nothing lies inside all
 * bounds, and they would say ever more that is not so. `curvature`: most that either clock's rate changes, 1/ns. Of each
 * instant so many before it and behind it are looked at: `near`.
 */
export function narrow(band: Band, curvature: number, near: number): Openings {
  // Twice, for what one direction found narrows what the other one finds.
  for (let round = 0; round < 2; round++) {
    sweep(band, curvature, near, 1);
    sweep(band, curvature, near, -1);
  }
  const last = band.times.length - 1;
  return {
    before: openingAt(band, curvature, near, 0, -1),
    behind: openingAt(band, curvature, near, last, 1),
  };
}

/** From one end to the other. Each instant passes on what is known from it and from those before it. */
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

/** How fast a clock at the border of the band at `i` can leave it, given where it can have come from. */
function openingAt(band: Band, curvature: number, near: number, i: number, step: 1 | -1): Opening {
  const end = endOf(band.times.length, near, i, step);
  return {
    most: steepest(band, 1, curvature, i, step, end),
    least: steepest(band, -1, curvature, i, step, end),
  };
}

/** Where looking back from `i` ends. */
const endOf = (count: number, near: number, i: number, step: 1 | -1): number =>
  step > 0 ? Math.max(-1, i - near - 1) : Math.min(count, i + near + 1);

/** The fastest way out of the band at `i` (`side` 1: up): the least that the other side allows where the clock came from. */
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
