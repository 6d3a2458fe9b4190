/**
 * The estimate inside groups of domains that evidence connects both ways: weighted least squares over the least delays of all links. The
 * unknowns are the corrections at the knots, one least delay per link and size, and one per likeness. Similar links are assumed to have
 * equal least delays. A link's weight says how well this assumption holds for it.
 *
 * Which message of a few seconds was delayed least depends on how fast the clocks run apart. So it is done three times: the first time the
 * least delays are those above a line through all pairs of a link, then those by the clocks that were found.
 */

import { correctionAt, knotTime, type Knots } from './corrections.js';
import { SparseLeastSquares } from './least_squares.js';
import { FIRST_SIGMA_NS, leastDelays, slotsOf, type DelayOf, type Link, type Linked } from './links.js';
import { addMinima, weighMinima } from './minima.js';
import { addBendRows, Wander } from './rate_changes.js';
import { judge, weigh, type References } from './similar_links.js';
import {
  addLikenessPriors,
  addRatePriors,
  correctionsOf,
  likenessPriors,
  unknownPlaces,
  type Places,
} from './unknowns.js';

export interface Estimate {
  readonly knots: Knots;
  /** Per domain, at the knots. All 0: a reference, or not connected. */
  readonly corrections: readonly Float64Array[];
  readonly links: readonly Link[];
  /** How many least delays links have. */
  readonly floors: number;
  /** Minimum delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
  /** How much rates of clocks are seen to change against their group, 1/ns. */
  readonly wander: Wander;
}

/** How often the least delays are chosen, and how often they are weighed each time. */
const CHOICES = 3;
const PASSES = 10;
/** The same with hundreds of hosts: there many links show each clock, and a pass takes long. */
const CHOICES_OF_MANY = 2;
const PASSES_OF_MANY = 4;
/** Passes of the first choice that take all clocks for restless, because its lines show little of a bend. */
const RESTLESS_PASSES = 4;
/** If a pass moves the corrections by less than this, they have settled. */
const STILL_NS = 10;
/** If there are more minima, each is for a longer time: then many links show each clock. */
const MOST_MINIMA = 40_000;
/** Standard error of one minimum before it is weighed, beside its link's spread. */
const READ_OUT_NS = 1000;

/** `linked`: only inside groups. `alike`: relative spread of minimum delays; `mostWander`: 1/ns. */
export function estimate(
  references: References,
  { links, names, floors }: Linked,
  knots: Knots,
  options: { readonly alike: number; readonly mostWander: number },
): Estimate {
  const place = unknownPlaces(references, knots);
  const wander = new Wander(references.length, place, links, options.mostWander);
  const likes = place.count + floors;
  const x = new Float64Array(likes + names.length);
  const longer = Math.max(1, links.reduce((sum, { edge }) => sum + slotsOf(edge), 0) / MOST_MINIMA);
  const isMany = longer > 1;
  for (let choice = 0; choice < (isMany ? CHOICES_OF_MANY : CHOICES); choice++) {
    if (choice > 0) {
      const corrections = correctionsOf(place, x);
      for (const link of links)
        link.minima = leastDelays(link.edge, knots, corrections, slotsOf(link.edge) / longer);
    }
    const passes = isMany ? PASSES_OF_MANY : PASSES;
    fit({ links, names, floors, references, place, wander, alike: options.alike, choice, passes }, x);
  }
  const corrections = correctionsOf(place, x);
  return {
    knots,
    corrections: byReference(references, knots, corrections),
    links,
    floors,
    delays: new Map(names.map((name, i) => [name, x[likes + i]!])),
    wander,
  };
}

/** Standard errors of rows. */
interface Sigmas {
  /** Of the least delays of a link. */
  minimum(link: Link, i: number): number;
  /** How far a link's least delay is from its like. */
  tie(i: number): number;
  bend(clock: number, knot: number): number;
}

/** All that is known. The unknowns are the corrections, then the least delays of links, then those of likenesses. `bends` sets their sigmas again. */
export function systemOf(
  { links, names, floors }: Linked,
  place: Places,
  delays: ArrayLike<number>,
  sigmas: Sigmas,
) {
  const likes = place.count + floors;
  const system = new SparseLeastSquares(likes + names.length, {
    count: place.solved.length,
    size: place.knots.count,
    // Each least delay is in rows of all knots.
    shared: names.length + (place.solved.length < place.knots.count ? floors : 0),
  });
  const rows = links.map((link, i) =>
    addMinima(system, link, place, place.count + link.floor, sigmas.minimum(link, i)),
  );
  const ties = links.map((link, i) =>
    system.add([place.count + link.floor, likes + link.like], [1, -1], 0, sigmas.tie(i)),
  );
  addRatePriors(system, place);
  const bends = addBendRows(system, place, (clock, knot) => sigmas.bend(clock, knot));
  const priors = addLikenessPriors(system, likes, likenessPriors(names, delays));
  return { system, rows, ties, bends, priors };
}

interface Fit extends Linked {
  readonly references: References;
  readonly place: Places;
  readonly wander: Wander;
  readonly alike: number;
  /** 0: by lines. */
  readonly choice: number;
  readonly passes: number;
}

/** Improves `x`: corrections, least delays of links, least delays of likenesses. Sets the links' residuals, spreads and weights. */
function fit(
  { links, names, floors, references, place, wander, alike, choice, passes }: Fit,
  x: Float64Array,
): void {
  const delays = x.subarray(place.count + floors);
  const delayOf = (link: Link): number => delays[link.like]!;
  const { system, rows, ties, bends, priors } = systemOf({ links, names, floors }, place, delays, {
    minimum: ({ spread }) => (choice === 0 ? FIRST_SIGMA_NS : READ_OUT_NS + spread),
    tie: () => FIRST_SIGMA_NS,
    bend: (clock) => wander.of(clock),
  });
  for (let pass = 0; pass < passes; pass++) {
    const before = x.slice(0, place.count);
    system.solve(x);
    const left = rows.map((own) => own.map((row) => system.unexplained(row, x)));
    weighMinima(system, links, rows, left);
    links.forEach((link) => {
      link.residual = x[place.count + link.floor]! - delayOf(link);
    });
    // Not in the first pass, because that pass weighs all links equally and would blame the wrong link of a pair.
    if (pass > 1) judge(links, references, delayOf, alike);
    weigh(links, delayOf, alike);
    links.forEach(({ sigma }, i) => {
      system.setSigma(ties[i]!, sigma);
    });
    likenessPriors(names, delays).forEach(({ sigma }, i) => {
      system.setSigma(priors[i]!, sigma);
    });
    if (choice > 0 || pass >= RESTLESS_PASSES) {
      wander.measure(x);
      bends();
    }
    if (before.every((value, i) => Math.abs(x[i]! - value) < STILL_NS)) break;
  }
}

/** Moves each group so that its reference's clock is the axis. A clock then has at each knot the time that the reference shows at that instant. */
function byReference(
  references: References,
  knots: Knots,
  corrections: readonly Float64Array[],
): Float64Array[] {
  return corrections.map((own, domain) => {
    const axis = corrections[references[domain]!]!;
    return own.map((value, knot) => {
      const time = knotTime(knots, knot) + value;
      // What the reference shows. Each round is more exact by the factor of its rate's error. An inverse would divide by wild rates.
      let shown = time - correctionAt(knots, axis, knotTime(knots, knot));
      for (let round = 0; round < 2; round++) shown = time - correctionAt(knots, axis, shown);
      return shown - knotTime(knots, knot);
    });
  });
}

export const delaysOf =
  ({ delays }: Pick<Estimate, 'delays'>): DelayOf =>
  ({ edge }) =>
    delays.get(edge.like)!;
