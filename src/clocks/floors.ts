/**
 * The second half of the estimate: not line by line, but from all minima of sub-windows at once. Each link has one least delay
 * for the whole run, and each clock one rate per piece, whoever looks at it. So a link that hardly ever had a message without
 * delay in one piece still knows its least delay from another, and a slope is not read off two minima of one link but off all.
 *
 * Minima lie above their least delays, a few just there and others far above: what is sought runs below most of them (quantile regression
 * by reweighted least squares).
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
import { addBendRows, measureWander, setBends } from './rate_changes.js';

/** Which part of a link's minima may lie below: as many as keep the odd one from moving anything, but no more. */
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

/** Improves what the lines gave; also the links' residuals and weights. False: it is too much, nothing was changed. */
export function settle(
  solved: Solved,
  { links, names, floors, references, place, alike, wander, mostWander }: Setting,
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
  wander.fill(mostWander);
  addRatePriors(system, place);
  const bends = addBendRows(system, place, wander);
  const priors = addLikenessPriors(system, likes, likenessPriors(names, delays));
  for (let pass = 0; pass < PASSES; pass++) {
    const scales = scalesOf(links, names.length, rows, (row) => system.unexplained(row, x));
    // In rounds: the scatter of minima is known only if clocks may bend, and the bends only if the scatter is known.
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
    measureWander(wander, x, place, mostWander);
    setBends(system, bends, place, wander);
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
 * How far minima of a link scatter, ns: as far as half of its own do, or all of its likeness on the average. The few of a link that hardly
 * speaks may lie on a line by chance, and would then outweigh those of a hundred times as many messages. By what is left of them, and not by
 * their distance from straight lines: where clocks bend that is more, and bends would be held for scatter.
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
    // Nothing is left of so few but by chance.
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
