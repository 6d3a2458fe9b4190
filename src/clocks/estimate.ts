/**
 * The estimate inside groups of domains that evidence connects both ways: weighted least squares over the support lines of all edges, then
 * over all their minima (floors.ts). The unknowns are the corrections at the knots and one minimum delay per likeness. Similar links are
 * assumed to have equal minimum delays. A link's weight says how well this assumption holds for it.
 */

import { judge, weigh, type References } from './similar_links.js';
import { correctionAt, knotTime, type Knots } from './corrections.js';
import { settle } from './floors.js';
import { SparseLeastSquares } from './least_squares.js';
import type { DelayOf, Link, Linked } from './links.js';
import {
  addRatePriors,
  addLikenessPriors,
  likenessPriors,
  correctionsOf,
  terms,
  unknownPlaces,
  type Places,
  type Setting,
} from './unknowns.js';
import { addBendRows, Wander } from './rate_changes.js';

export interface Estimate {
  readonly knots: Knots;
  /** Per domain, at the knots. All 0: a reference, or not connected. */
  readonly corrections: readonly Float64Array[];
  readonly links: readonly Link[];
  /** How many least delays links have. */
  readonly floors: number;
  /** Minimum delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
  /** How much rates of clocks are seen to change against their reference, 1/ns. */
  readonly wander: Wander;
  /** True: all minima were used together. False: only lines. */
  readonly settled: boolean;
}

const PASSES = 8;

/** `linked`: only inside groups. `alike`: relative spread of minimum delays; `mostWander`: 1/ns. */
export function estimate(
  references: References,
  { links, names, floors }: Linked,
  knots: Knots,
  options: { readonly alike: number; readonly mostWander: number },
): Estimate {
  const domains = references.length;
  const place = unknownPlaces(references, knots);
  const wander = new Wander(domains, place, links, options.mostWander);
  const setting: Setting = { links, names, floors, references, place, wander, alike: options.alike };
  const x = throughLines(setting);
  const corrections = x.subarray(0, place.count);
  const delays = x.subarray(place.count);
  const settled = settle({ corrections, delays }, setting);
  return {
    knots,
    corrections: byReference(references, knots, correctionsOf(place, corrections)),
    links,
    floors,
    delays: new Map(names.map((name, i) => [name, delays[i]!])),
    wander,
    settled,
  };
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

/** Corrections, then minimum delays. */
function throughLines(setting: Setting): Float64Array {
  const { links, names, references, place, alike, wander } = setting;
  const x = new Float64Array(place.count + names.length);
  const delays = x.subarray(place.count);
  const delayOf = (link: Link): number => delays[link.like]!;
  const system = new SparseLeastSquares(x.length, {
    count: place.solved.length,
    size: place.knots.count,
    shared: names.length,
  });
  const rows = links.map((link) => addLines(system, link, place));
  addRatePriors(system, place);
  const bends = addBendRows(system, place, (clock) => wander.of(clock));
  const priors = addLikenessPriors(system, place.count, likenessPriors(names, delays));
  for (let pass = 0; pass < PASSES; pass++) {
    system.solve(x);
    links.forEach((link, i) => {
      const left = rows[i]!.map((row) => system.unexplained(row, x));
      link.residual = left.length === 0 ? 0 : left.reduce((sum, rest) => sum + rest, 0) / left.length;
    });
    // Not in the first pass, because that pass weighs all links equally and would blame the wrong link of a pair.
    if (pass > 0) judge(links, references, delayOf, alike);
    const moved = weigh(links, delayOf, alike);
    const isSteady = wander.measure(x);
    if (pass > 0 && !moved && isSteady) break;
    bends((row, sigma) => {
      system.setSigma(row, sigma);
    });
    links.forEach(({ sigma }, i) => {
      for (const row of rows[i]!) system.setSigma(row, sigma);
    });
    likenessPriors(names, delays).forEach(({ sigma }, i) => {
      system.setSigma(priors[i]!, sigma);
    });
  }
  return x;
}

/** Returns the numbers of the rows. */
function addLines(system: SparseLeastSquares, link: Link, place: Places): number[] {
  return link.lines.flatMap((line) =>
    line === null
      ? []
      : line.times.map((time, i) => {
          const delay = line.delays[i]!;
          const { indices, coefficients } = terms(link.edge, time, delay, place, place.count + link.like);
          return system.add(indices, coefficients, delay, link.sigma);
        }),
  );
}

export const delaysOf =
  ({ delays }: Pick<Estimate, 'delays'>): DelayOf =>
  ({ edge }) =>
    delays.get(edge.like)!;
