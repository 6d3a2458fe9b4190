/**
 * The least delays of all links as rows of least squares: the corrections of the two clocks at the times of a message, and one least delay
 * for the whole run. So a link without an undelayed message in one piece gets its least delay from another piece, and two least delays of
 * one link give no slope. A few per cent of the minima lie below the solution and the others above it (quantile regression by reweighted
 * least squares).
 */

import { entryOf } from '../base/grouped.js';
import { append } from '../base/extremes.js';
import type { SparseLeastSquares } from './least_squares.js';
import { FLOOR_SIGMA_NS, type Link } from './links.js';
import { terms, type Places } from './unknowns.js';

/** The part of a link's minima that may lie below the solution: just enough that a single wrong minimum moves nothing. */
const MOST_BELOW = 0.15;
const LEAST_BELOW = 0.02;
const ODD_ONES = 1.25;
/** The part of the minima that lies near the least delays. */
const NEAR_FLOOR = 0.2;
/** Below this a residual is read-out noise: keeps the weights finite. */
const SMALLEST_RESIDUAL_NS = 300;

/** One row per minimum. `minimum`: index of the unknown for the link's least delay. */
export function addMinima(
  system: SparseLeastSquares,
  { edge, minima }: Link,
  place: Places,
  minimum: number,
  sigma: number,
): number[] {
  const rows: number[] = [];
  for (let i = 0; i < minima.length; i += 2) {
    const delay = minima[i + 1]!;
    const { indices, coefficients } = terms(edge, minima[i]!, delay, place, minimum);
    rows.push(system.add(indices, coefficients, delay, sigma));
  }
  return rows;
}

/**
 * Weighs the minima of all links. A quantile is known better if more minima lie near it. So one minimum shows its link's least delay as
 * exactly as two quantiles of its likeness lie apart, divided by the number of minima between them. `left`: by link, how far its minima
 * lie above the solution, ns.
 */
export function weighMinima(
  system: SparseLeastSquares,
  links: readonly Link[],
  rows: readonly (readonly number[])[],
  left: readonly (readonly number[])[],
): void {
  const together = new Map<number, number[]>();
  links.forEach(({ like }, i) => {
    append(
      entryOf(together, like, () => []),
      left[i]!,
    );
  });
  const scales = new Map([...together].map(([like, all]) => [like, scaleOf(all)]));
  links.forEach(({ like }, i) => {
    const below = Math.min(MOST_BELOW, Math.max(LEAST_BELOW, ODD_ONES / rows[i]!.length));
    rows[i]!.forEach((row, k) => {
      const above = left[i]![k]!;
      const distance = Math.max(SMALLEST_RESIDUAL_NS, Math.abs(above));
      system.setSigma(row, Math.sqrt((distance * scales.get(like)!) / (above > 0 ? below : 1 - below)));
    });
  });
}

function scaleOf(all: readonly number[]): number {
  const sorted = Float64Array.from(all).sort();
  const at = (part: number): number => sorted[Math.floor(part * sorted.length)] ?? 0;
  const apart = (at(NEAR_FLOOR) - at(LEAST_BELOW)) / (NEAR_FLOOR - LEAST_BELOW);
  return Math.max(FLOOR_SIGMA_NS, LEAST_BELOW * (1 - LEAST_BELOW) * apart);
}
