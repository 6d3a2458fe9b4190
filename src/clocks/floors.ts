/**
 * The second half of the estimate, over all minima of sub-windows at once instead of line by line. Each link has one least delay for the
 * whole run, and each clock one rate per piece, whichever link shows it. So a link that hardly ever had a message without delay in one
 * piece still has its least delay from another piece, and a slope rests on all minima, not on two of one link.
 *
 * Minima lie above their least delays, some just above and others far above. The solution runs below most of them (quantile regression by
 * reweighted least squares).
 */

import { median } from '../base/median.js';
import { judge, weigh } from './similar_links.js';
import { SparseLeastSquares } from './least_squares.js';
import { FLOOR_SIGMA_NS, minimaOf, type Link } from './links.js';
import {
  addRatePriors,
  addLikenessPriors,
  likenessPriors,
  terms,
  type Places,
  type Rows,
  type Setting,
} from './unknowns.js';
import { addBendRows } from './rate_changes.js';

/** The part of a link's minima that may lie below the solution: enough that a single wrong one moves nothing, and no more. */
const MOST_BELOW = 0.15;
const LEAST_BELOW = 0.02;
const ODD_ONES = 1.25;
/** Below this a residual is read-out noise: keeps the weights finite. */
const SMALLEST_RESIDUAL_NS = 300;
const PASSES = 16;
/** Corrections that a pass moves by less will stay where they are. */
const STILL_NS = 10;
/** In the first rounds clocks may bend freely, and minima weigh as if they scattered by this part of their apparent scatter. */
const FREE_PASSES = 5;
const FREE = 0.25;
const FEW_MINIMA = 8;
/** With more minima than this, straight lines are enough: with hundreds of hosts many links show each clock. */
const MOST_MINIMA = 40_000;

export interface Solved {
  /** Corrections as `place` has them. */
  readonly corrections: Float64Array;
  /** By likeness, ns. */
  readonly delays: Float64Array;
}

/** Improves the result of the lines, and the links' residuals and weights. False: it would take too long, and nothing was changed. */
export function settle(
  solved: Solved,
  { links, names, floors, references, place, alike, wander }: Setting,
): boolean {
  const minima = links.reduce((sum, link) => sum + minimaOf(link), 0);
  if (minima > MOST_MINIMA) return false;
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
    shared: names.length,
  });
  const rows = links.map((link) => addMinima(system, link, place, place.count + link.floor, link.spread));
  const own = links.map((link) =>
    system.add([place.count + link.floor, likes + link.like], [1, -1], 0, link.sigma),
  );
  // Lines show less of bends than minima do.
  wander.forget();
  addRatePriors(system, place);
  const bends = addBendRows(system, place, (clock, knot) => wander.at(clock, knot));
  const priors = addLikenessPriors(system, likes, likenessPriors(names, delays));
  for (let pass = 0; pass < PASSES; pass++) {
    const scales = scalesOf(links, names.length, rows, (row) => system.unexplained(row, x));
    // In rounds, because the scatter of minima is only known if clocks may bend, and the bends only if the scatter is known.
    const isFree = pass < FREE_PASSES;
    if (isFree) scales.forEach((scale, i) => (scales[i] = Math.max(FLOOR_SIGMA_NS, FREE * scale)));
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
    if (isFree) continue;
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
  { edge, lines }: Link,
  place: Places,
  minimum: number,
  sigma: number,
): Row[] {
  const rows: Row[] = [];
  for (const line of lines) {
    for (let i = 0; line && i < line.minima.length; i += 2) {
      const delay = line.minima[i + 1]!;
      const { indices, coefficients } = terms(edge, line.minima[i]!, delay, place, minimum);
      rows.push(system.add(indices, coefficients, delay, sigma));
    }
  }
  return rows;
}

/**
 * How far the minima of a link scatter, ns: the median of its own, or the mean of its likeness if that is more. The few minima of a link
 * with little traffic may lie on a line by chance, and would then outweigh the minima of a hundred times as many messages. Distances are
 * from the solution, not from straight lines: where clocks bend, bends would be taken for scatter.
 */
function scalesOf(
  links: readonly Link[],
  likes: number,
  rows: readonly (readonly number[])[],
  unexplained: (row: number) => number,
): Float64Array {
  const sums = new Float64Array(likes);
  const counts = new Float64Array(likes);
  const own = rows.map((all, i) => {
    const middle = median(all.map((row) => Math.abs(unexplained(row)))) ?? 0;
    sums[links[i]!.like]! += middle * all.length;
    counts[links[i]!.like]! += all.length;
    return middle;
  });
  return Float64Array.from(links, ({ like, spread }, i) => {
    const usual = counts[like] === 0 ? 0 : sums[like]! / counts[like]!;
    // So few minima may lie on the solution by chance.
    return Math.max(FLOOR_SIGMA_NS, own[i]!, usual, rows[i]!.length < FEW_MINIMA ? spread : 0);
  });
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
