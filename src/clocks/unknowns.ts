/** The unknowns of the estimate, their indices, and what is known about them beforehand. */

import { pieceAt, shareAt, type Knots } from './corrections.js';
import { WAITED_CREDIT, type EdgeEvidence } from './evidence.js';
import type { SparseLeastSquares } from './least_squares.js';
import type { References } from './similar_links.js';
import { FIRST_SIGMA_NS } from './links.js';

/**
 * How far a counter's rate may be from its nominal one. It only matters for a domain with a single message, which would have no rate
 * otherwise.
 */
const RATE_PRIOR = 50e-6;
/** How far minimum delays of different likenesses may differ, relatively: decides only where nothing else does. */
const LIKENESS_PRIOR = 2;
/** A credit for which the sender waited takes between hardly any time and twice the time of the shortest data. As a standard error. */
const CREDIT_PRIOR = 1 / Math.sqrt(3);

/** Corrections come first, domain by domain. */
export interface Places {
  readonly knots: Knots;
  /** How many corrections. */
  readonly count: number;
  /** Index of the unknown; -1: known to be 0, because no other domain is solved with this one. */
  of(domain: number, knot: number): number;
  readonly solved: readonly number[];
  readonly references: References;
}

export function unknownPlaces(references: References, knots: Knots): Places {
  const together = new Set(references.filter((reference, domain) => reference !== domain));
  const solved = references.flatMap((reference, domain) => (together.has(reference) ? [domain] : []));
  const base = new Int32Array(references.length).fill(-1);
  solved.forEach((domain, i) => (base[domain] = i * knots.count));
  return {
    knots,
    count: solved.length * knots.count,
    solved,
    references,
    of: (domain, knot) => (base[domain]! < 0 ? -1 : base[domain]! + knot),
  };
}

/** Per domain, at the knots. */
export const correctionsOf = (place: Places, x: Float64Array): Float64Array[] =>
  place.references.map((_, domain) =>
    Float64Array.from({ length: place.knots.count }, (_, knot) => {
      const at = place.of(domain, knot);
      return at < 0 ? 0 : x[at]!;
    }),
  );

/** Indices and coefficients of a domain's correction at `time`. */
export function atTime(place: Places, domain: number, time: number) {
  const piece = pieceAt(place.knots, time);
  const share = shareAt(place.knots, piece, time);
  return {
    indices: [place.of(domain, piece), place.of(domain, piece + 1)],
    coefficients: [1 - share, share],
  };
}

/**
 * Indices and coefficients of: correction of `from` at `time`, minus that of `to` at `time + delay`, plus the minimum delay, whose
 * unknown has the index `minimum`.
 */
export function terms(
  { from, to }: EdgeEvidence,
  time: number,
  delay: number,
  place: Places,
  minimum: number,
) {
  const sent = atTime(place, from, time);
  const arrived = atTime(place, to, time + delay);
  return {
    indices: [...sent.indices, ...arrived.indices, minimum],
    coefficients: [...sent.coefficients, ...arrived.coefficients.map((share) => -share), 1],
  };
}

export function addRatePriors(system: SparseLeastSquares, place: Places): void {
  const { knots } = place;
  // The prior counts once for all knots of a clock together.
  const sigma = RATE_PRIOR * knots.step * Math.sqrt(knots.count - 1);
  for (const domain of place.solved) {
    for (let k = 0; k + 1 < knots.count; k++)
      system.add([place.of(domain, k), place.of(domain, k + 1)], [-1, 1], 0, sigma);
    // Pairs show only differences of clocks. This says where all of them lie together.
    if (place.references[domain] === domain) system.add([place.of(domain, 0)], [1], 0, FIRST_SIGMA_NS);
  }
}

/** A statement that a minimum delay (of `less`) is equal to another within `sigma`; -1: to 0. By number of likeness. */
interface LikenessPrior {
  readonly less: number;
  readonly more: number;
  readonly sigma: number;
}

/**
 * If one likeness is seen in one direction only, and another one in the other direction, a prior must relate their delays. The number and
 * the order of the priors are always the same.
 */
export function likenessPriors(names: readonly string[], delays: ArrayLike<number>): LikenessPrior[] {
  const neighbours = names.map((_, i): LikenessPrior => {
    const sigma = LIKENESS_PRIOR * Math.max(FIRST_SIGMA_NS, delays[i]!, delays[i - 1] ?? 0);
    // The prior of the first one only bounds a delay that no other evidence bounds.
    return { less: i - 1, more: i, sigma: i === 0 ? sigma * 1e3 : sigma };
  });
  const credit = names.indexOf(WAITED_CREDIT);
  if (credit < 0) return neighbours;
  const data = names.flatMap((name, i) => (name.startsWith('data') ? [i] : []));
  // While no delays are known, the last likeness is taken, because its name shows the smallest messages.
  const shortest = data.reduce((least, i) => (delays[i]! <= delays[least]! ? i : least), data[0] ?? -1);
  const like = data.map((i): LikenessPrior => {
    const sigma = i === shortest ? CREDIT_PRIOR * Math.max(SHORT_NS, delays[i]!) : FAR_NS;
    return { less: credit, more: i, sigma };
  });
  return [...neighbours, ...like];
}

/** At least this, for the shortest messages. */
const SHORT_NS = 5000;
/** So wide that the prior says nothing. */
const FAR_NS = 1e9;

/** `first`: index of the unknown of the first likeness. Returns the numbers of the rows. */
export function addLikenessPriors(
  system: SparseLeastSquares,
  first: number,
  priors: readonly LikenessPrior[],
): number[] {
  return priors.map(({ less, more, sigma }) =>
    less < 0
      ? system.add([first + more], [1], 0, sigma)
      : system.add([first + less, first + more], [-1, 1], 0, sigma),
  );
}
