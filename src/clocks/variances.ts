/**
 * Variances of the estimate. They follow from how much minimum delays of similar links differ and from how much least delays
 * scatter. A difference between links lasts for the whole run and moves a clock as a whole. Scatter lets the line of a clock turn, so its
 * effect is largest at the ends of a piece. Between two knots no clock is farther off than at the worse of them.
 */

import { entryOf } from '../base/grouped.js';
import { median } from '../base/median.js';
import { shownAt } from './corrected_times.js';
import { knotTime, slack } from './corrections.js';
import type { References } from './similar_links.js';
import { delaysOf, systemOf, type Estimate } from './estimate.js';
import type { EdgeEvidence } from './evidence.js';
import { SparseLeastSquares } from './least_squares.js';
import { FLOOR_SIGMA_NS, statedSigmas, type Alike, type Link } from './links.js';
import { addLikenessPriors, atTime, likenessPriors, unknownPlaces } from './unknowns.js';

/** Variance of the difference of two domains of one group, at the worse end of a piece, ns². */
export type Variances = (a: number, b: number, piece: number) => number;

/** Beyond this many multiplications, some seconds, clocks are moved as wholes. */
const MOST_WORK = 2e9;

export function variances(references: References, guess: Estimate, alike: Alike): Variances {
  return fromMinima(references, guess, alike) ?? asWholes(references, guess, alike);
}

/** Null: too expensive. */
function fromMinima(references: References, guess: Estimate, alike: Alike): Variances | null {
  const { knots, links, floors, delays, wander } = guess;
  const place = unknownPlaces(references, knots);
  const own = statedSigmas(links, delaysOf(guess), alike, () => LOWEST_ABOVE);
  // Of each group one clock is the axis, so pairs show one clock less.
  const axes = place.solved.filter((domain) => references[domain] === domain).length;
  const scatters = scattersOf(links, guess, place.count + floors - axes * knots.count);
  const { system } = systemOf({ links, floors, names: [...delays.keys()] }, place, [...delays.values()], {
    minimum: (_, i) => scatters[i]!,
    tie: (i) => own[i]!,
    bend: (clock, knot) => wander.at(clock, knot),
  });
  const { cost, entries } = system.wholeOrder();
  if (cost + place.count * entries > MOST_WORK) return null;
  const matrix = system.factored();
  // At one instant two clocks show different times.
  const shown = guess.corrections.map((own) =>
    own.map((_, knot) => shownAt(knots, own, knotTime(knots, knot))),
  );
  const at = ofLastPair((a, b, knot) => {
    const one = atTime(place, a, shown[a]![knot]!);
    const other = atTime(place, b, shown[b]![knot]!);
    return matrix.variance(
      [...one.indices, ...other.indices],
      [...one.coefficients, ...other.coefficients.map((share) => -share)],
    );
  });
  return (a, b, piece) => (a === b ? 0 : Math.max(at(a, b, piece), at(a, b, piece + 1)));
}

/** Computes the variance for one pair of clocks after another, piece by piece. */
function ofLastPair(variance: Variances): Variances {
  let [lastA, lastB] = [-1, -1];
  let known = new Map<number, number>();
  return (a, b, at) => {
    if (a !== lastA || b !== lastB) [lastA, lastB, known] = [a, b, new Map<number, number>()];
    return entryOf(known, at, () => variance(a, b, at));
  };
}

/** The lowest of few minima lies above the least delay, by about this part of their scatter. */
const LOWEST_ABOVE = 0.25;

/**
 * How exactly one minimum shows its link's least delay, as a standard error, ns: the median distance of the link's minima from the
 * solution. Few minima show it badly, because a line runs through two of them anyway. So all minima of the likeness count, also those of
 * messages that waited, each scaled to the same number of messages. All minima lie nearer to the fitted solution than to the truth. This is
 * corrected. Found by `test/clocks/sparse.tiers.test.ts`.
 */
function scattersOf(links: readonly Link[], guess: Estimate, unknowns: number): Float64Array {
  const distances = links.map((link) => distancesOf(link, guess));
  // If all messages wait in the same way, the least of n lies above the least delay by an nth of their scatter. The least of few messages
  // is often one that waited in another way. The least of many messages is not.
  const closeness = links.map(({ edge }, i) => (pairsOf(edge) / Math.max(1, distances[i]!.length)) ** 2);
  const sums = new Float64Array(guess.delays.size);
  const scaled = new Float64Array(guess.delays.size);
  const counts = new Float64Array(guess.delays.size);
  links.forEach(({ like }, i) => {
    const sum = distances[i]!.reduce((all, distance) => all + distance, 0);
    sums[like]! += sum;
    scaled[like]! += sum * closeness[i]!;
    counts[like]! += distances[i]!.length;
  });
  const all = counts.reduce((sum, count) => sum + count, 0);
  const fitted = Math.sqrt(all / Math.max(all - unknowns, all / MOST_FITTED));
  return Float64Array.from(links, ({ like, edge }, i) => {
    const count = distances[i]!.length;
    const others = Math.max(sums[like]!, scaled[like]! / closeness[i]!) / counts[like]!;
    const own = Math.max(median(distances[i]!) ?? 0, count > OF_A_LINE ? 0 : others);
    const squares = count * own ** 2 + OTHERS_COUNT * others ** 2;
    const few = 1 + FEW_PAIRS / Math.max(1, pairsOf(edge));
    return Math.max(FLOOR_SIGMA_NS, few * fitted * Math.sqrt(squares / (count + OTHERS_COUNT)));
  });
}

const pairsOf = ({ windows }: EdgeEvidence): number => windows.reduce((sum, { pairs }) => sum + pairs, 0);

const OF_A_LINE = 2;
/** With fewer messages than this, all of them may have waited long, as one message in ten does. */
const FEW_PAIRS = 12;
/** The evidence of other links counts as this many minima of a link itself. */
const OTHERS_COUNT = 2;
/** With hardly more minima than unknowns, distances are a third of the true ones, but not less. */
const MOST_FITTED = 9;

function distancesOf(link: Link, guess: Estimate): number[] {
  const least = delaysOf(guess)(link) + link.residual;
  const { knots, corrections } = guess;
  const { from, to } = link.edge;
  const distances: number[] = [];
  for (let at = 0; at < link.minima.length; at += 2) {
    const left = slack(knots, corrections[from]!, corrections[to]!, link.minima[at]!, link.minima[at + 1]!);
    distances.push(Math.abs(left - least));
  }
  return distances;
}

/** One correction per clock, known as well as lines are at their ends. */
function asWholes(references: References, guess: Estimate, alike: Alike): Variances {
  const { links, delays } = guess;
  const solved = references.flatMap((reference, domain) => (reference === domain ? [] : [domain]));
  const place = new Int32Array(references.length).fill(-1);
  solved.forEach((domain, i) => (place[domain] = i));
  const shared = delays.size;
  const system = new SparseLeastSquares(solved.length + shared, { count: 0, size: 1, shared });
  const sigmas = statedSigmas(links, delaysOf(guess), alike, atEnds);
  links.forEach(({ edge, like }, i) => {
    system.add([place[edge.from]!, place[edge.to]!, solved.length + like], [1, -1, 1], 0, sigmas[i]!);
  });
  for (let i = 0; i < solved.length; i++) system.add([i], [1], 0, UNHEARD_NS);
  addLikenessPriors(system, solved.length, likenessPriors([...delays.keys()], [...delays.values()]));
  const matrix = system.factored();
  const ofPair = ofLastPair((a, b) => matrix.variance([place[a]!, place[b]!], [1, -1]));
  return (a, b) => (a === b ? 0 : ofPair(a, b, 0));
}

/** The part of a link's spread that is left as an error at the ends of a piece. */
function atEnds({ minima }: Link): number {
  const count = Math.max(1, Math.min(MOST_OF_A_LINE, minima.length / 2));
  return Math.min(MOST_AT_ENDS, 1 + FEW_MINIMA / count) / Math.sqrt(count);
}

/** More minima are far from either end. */
const MOST_OF_A_LINE = 8;
/** Few points show little about their scatter, and least at the ends of their line. */
const FEW_MINIMA = 30;
const MOST_AT_ENDS = 6;

/** The error of a clock without any other evidence. */
const UNHEARD_NS = 1e12;
