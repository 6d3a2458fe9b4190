/**
 * The second half of the estimate, over all least delays of short times at once instead of line by line. Each link has one least delay for
 * the whole run, and each clock has one rate per piece for all links. A link may have few messages without delay in one piece. Then its
 * least delay comes from another piece. A slope rests on all minima, not on two minima of one link.
 *
 * Minima lie above their least delays, some just above and others far above. The solution runs below most minima (quantile regression by
 * reweighted least squares).
 */

import { judge, weigh } from './similar_links.js';
import { SparseLeastSquares } from './least_squares.js';
import { FLOOR_SIGMA_NS, heardFor, leastDelays, type Link } from './links.js';
import {
  addRatePriors,
  correctionsOf,
  addLikenessPriors,
  likenessPriors,
  terms,
  type Places,
  type Rows,
  type Setting,
} from './unknowns.js';
import { addBendRows } from './rate_changes.js';

/** The part of a link's minima that may lie below the solution: just enough that a single wrong minimum moves nothing. */
const MOST_BELOW = 0.15;
const LEAST_BELOW = 0.02;
const ODD_ONES = 1.25;
/** The part of the minima that lies near the least delays. */
const NEAR_FLOOR = 0.2;
/** Below this a residual is read-out noise: keeps the weights finite. */
const SMALLEST_RESIDUAL_NS = 300;
const PASSES = 16;
/** If a pass moves the corrections by less than this, they have settled. */
const STILL_NS = 10;
/** Each minimum stands for this time. Even the fastest change of a rate moves a clock by only a few tens of ns in it. */
const SLOT_NS = 2.5e9;
/** Number of minima of a link with messages for a short time only. */
const LEAST_SLOTS = 8;
/** If there are more minima, each is for longer... */
const MOST_MINIMA = 40_000;
/**
 * ...by this factor at most, unless knots are far apart. Beyond that straight lines are enough: with hundreds of hosts many links show each
 * clock.
 */
const MOST_LONGER = 3;

export interface Solved {
  /** Corrections as `place` has them. */
  readonly corrections: Float64Array;
  /** By likeness, ns. */
  readonly delays: Float64Array;
}

/**
 * Improves the result of the lines, and the links' residuals and weights. Returns false if it would take too long; then nothing was
 * changed.
 */
export function settle(
  solved: Solved,
  { links, names, floors, references, place, alike, wander }: Setting,
): boolean {
  const corrections = correctionsOf(place, solved.corrections);
  const slots = links.map(({ edge }) => LEAST_SLOTS + heardFor(edge) / SLOT_NS);
  const longer = Math.max(1, slots.reduce((sum, own) => sum + own, 0) / MOST_MINIMA);
  if (longer > Math.max(MOST_LONGER, place.knots.step / 2 / SLOT_NS)) return false;
  links.forEach((link, i) => {
    link.minima = leastDelays(link.edge, place.knots, corrections, slots[i]! / longer);
  });
  const likes = place.count + floors;
  const x = new Float64Array(likes + names.length);
  x.set(solved.corrections);
  links.forEach((link) => (x[place.count + link.floor] = solved.delays[link.like]! + link.residual));
  x.set(solved.delays, likes);
  const delays = x.subarray(likes);
  const delayOf = (link: Link): number => delays[link.like]!;

  const system = new SparseLeastSquares(x.length, {
    count: place.solved.length,
    size: place.knots.count,
    // Each least delay is in rows of all knots.
    shared: names.length + (place.solved.length < place.knots.count ? floors : 0),
  });
  const rows = links.map((link) => addMinima(system, link, place, place.count + link.floor, link.spread));
  const own = links.map((link) =>
    system.add([place.count + link.floor, likes + link.like], [1, -1], 0, link.sigma),
  );
  // Lines show less of bends than minima do.
  wander.forget();
  addRatePriors(system, place);
  const bends = addBendRows(system, place, (clock) => wander.of(clock));
  const priors = addLikenessPriors(system, likes, likenessPriors(names, delays));
  for (let pass = 0; pass < PASSES; pass++) {
    const scales = scalesOf(links, names.length, rows, (row) => system.unexplained(row, x));
    links.forEach((link, i) => {
      link.residual = x[place.count + link.floor]! - delayOf(link);
      weighMinima(system, rows[i]!, scales[i]!, x);
    });
    judge(links, references, delayOf, alike);
    weigh(links, delayOf, alike);
    links.forEach(({ sigma }, i) => {
      system.setSigma(own[i]!, sigma);
    });
    likenessPriors(names, delays).forEach(({ sigma }, i) => {
      system.setSigma(priors[i]!, sigma);
    });
    const before = x.slice(0, place.count);
    system.solve(x);
    if (before.every((value, i) => Math.abs(x[i]! - value) < STILL_NS)) break;
    wander.measure(x);
    bends((row, sigma) => {
      system.setSigma(row, sigma);
    });
  }
  solved.corrections.set(x.subarray(0, place.count));
  solved.delays.set(delays);
  return true;
}

/** One row per minimum. `minimum`: index of the unknown for the link's least delay. */
export function addMinima<Row>(
  system: Rows<Row>,
  { edge, minima }: Link,
  place: Places,
  minimum: number,
  sigma: number,
): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < minima.length; i += 2) {
    const delay = minima[i + 1]!;
    const { indices, coefficients } = terms(edge, minima[i]!, delay, place, minimum);
    rows.push(system.add(indices, coefficients, delay, sigma));
  }
  return rows;
}

/**
 * How exactly one minimum shows its link's least delay, ns. A quantile is known better if more minima lie near it. So this is the distance
 * between two quantiles of the likeness, divided by the number of minima between them.
 */
function scalesOf(
  links: readonly Link[],
  likes: number,
  rows: readonly (readonly number[])[],
  unexplained: (row: number) => number,
): Float64Array {
  const left = Array.from({ length: likes }, (): number[] => []);
  links.forEach(({ like }, i) => {
    for (const row of rows[i]!) left[like]!.push(unexplained(row));
  });
  const scales = left.map((all) => {
    const sorted = Float64Array.from(all).sort();
    const at = (part: number): number => sorted[Math.floor(part * sorted.length)] ?? 0;
    const apart = (at(NEAR_FLOOR) - at(LEAST_BELOW)) / (NEAR_FLOOR - LEAST_BELOW);
    return Math.max(FLOOR_SIGMA_NS, LEAST_BELOW * (1 - LEAST_BELOW) * apart);
  });
  return Float64Array.from(links, ({ like }) => scales[like]!);
}

function weighMinima(
  system: SparseLeastSquares,
  rows: readonly number[],
  scale: number,
  x: Float64Array,
): void {
  const below = Math.min(MOST_BELOW, Math.max(LEAST_BELOW, ODD_ONES / rows.length));
  for (const row of rows) {
    const above = system.unexplained(row, x);
    const distance = Math.max(SMALLEST_RESIDUAL_NS, Math.abs(above));
    system.setSigma(row, Math.sqrt((distance * scale) / (above > 0 ? below : 1 - below)));
  }
}
