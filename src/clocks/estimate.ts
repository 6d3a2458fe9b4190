/**
 * The estimate inside groups of domains that evidence connects both ways: weighted least squares over the support
 * lines of all edges. Unknown are the corrections at the knots (0 for each group's reference) and one minimum delay per
 * likeness: links that are alike are taken to have equal minimum delays, and a link's weight says how far that holds.
 */

import { correctionAt, pieceAt, shareAt, knotTime, type Knots } from './corrections.js';
import { isWire, type EdgeEvidence } from './evidence.js';
import { DenseNormalMatrix, SparseLeastSquares } from './least_squares.js';
import { supportLine, type SupportLine } from './support_line.js';

/** One edge and likeness, seen by the estimate. */
export interface Link {
  readonly edge: EdgeEvidence;
  readonly like: number;
  /** Per piece; null where the edge was silent. */
  readonly lines: readonly (SupportLine | null)[];
  /** Median over the pieces, ns. */
  readonly spread: number;
  /** Number of its wire: all likenesses of one kind between the same two domains, which share the wire's own error. */
  readonly wire: number;
  /** Standard error that its minimum delay is taken to have, ns. */
  sigma: number;
  /** At least 1: by how much that grew because the link proves to be unlike the others. */
  excess: number;
  /** Mean of what the estimate leaves unexplained, ns. */
  residual: number;
}

export interface Estimate {
  readonly knots: Knots;
  /** Per domain, at the knots. All 0: a reference, or not connected. */
  readonly corrections: readonly Float64Array[];
  readonly links: readonly Link[];
  /** Minimum delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
}

/** Which domains are solved together: `reference[d]` is the group's first domain. */
export type References = readonly number[];

/** Rates of counters against their nominal ones: only there so that a domain heard of once has a rate at all. */
const RATE_PRIOR = 100e-6;
/** Collectives, and credits that nobody waited for, wait for programs: their delays are like each other only roughly. */
const LOOSE_ALIKE = 1;
/** How far minimum delays of different likenesses may differ, relatively: decides only where nothing else does. */
const LIKENESS_PRIOR = 2;
/** No two minimum delays are equal to less than this, ns: stamps are taken by programs. */
const FLOOR_SIGMA_NS = 300;
const PASSES = 8;
/** Unexplained by more than this many standard errors: the link is unlike the others. */
const UNLIKE = 3.5;

function relativeSpread(edge: EdgeEvidence, alike: number): number {
  return isWire(edge) ? alike : Math.max(alike, LOOSE_ALIKE);
}

/** `edges`: only those inside groups. `alike`: relative spread of minimum delays; `curvature`: 1/ns. */
export function estimate(
  domains: number,
  references: References,
  edges: readonly EdgeEvidence[],
  knots: Knots,
  { alike, curvature }: { readonly alike: number; readonly curvature: number },
): Estimate {
  const names = [...new Set(edges.map(({ like }) => like))].sort();
  const links = makeLinks(edges, names, knots);
  const place = unknownPlaces(references, knots);
  const unknowns = place.count + names.length;
  const x = new Float64Array(unknowns);
  const system = new SparseLeastSquares(unknowns, { count: place.solved.length, size: knots.count });
  const rows = links.map((link) => addLines(system, link, place, knots));
  addPriors(system, place, knots, curvature);
  const likenessRows = addLikenessPrior(system, place.count, names);
  const delayOf = (link: Link): number => x[place.count + link.like]!;
  for (let pass = 0; pass < PASSES; pass++) {
    system.solve(x);
    links.forEach((link, i) => {
      const left = rows[i]!.map((row) => system.unexplained(row, x));
      link.residual = left.length === 0 ? 0 : left.reduce((sum, rest) => sum + rest, 0) / left.length;
    });
    // Not from the first pass: it weighs all links alike, and would blame the one of a pair that ought to be shorter.
    if (pass > 0) {
      const shown = shownAlike(links, references, delayOf, 'median');
      for (const link of links) {
        const left = Math.abs(link.residual) / unlikeBeyond(link, delayOf(link), alike, shown);
        link.excess = Math.max(1, left * left);
      }
    }
    statedSigmas(links, delayOf, alike).forEach((sigma, i) => {
      links[i]!.sigma = sigma;
      for (const row of rows[i]!) system.setSigma(row, sigma);
    });
    likenessRows.forEach((row, i) => {
      system.setSigma(row, likenessSigma(x[place.count + i]!, x[place.count + i - 1] ?? 0, i));
    });
  }
  const corrections = Array.from({ length: domains }, (_, domain) =>
    Float64Array.from({ length: knots.count }, (_, knot) => {
      const at = place.of(domain, knot);
      return at < 0 ? 0 : x[at]!;
    }),
  );
  const delays = new Map(names.map((name, i) => [name, x[place.count + i]!]));
  return { knots, corrections, links, delays };
}

function makeLinks(edges: readonly EdgeEvidence[], names: readonly string[], knots: Knots): Link[] {
  const wires = new Map<string, number>();
  const wireOf = (edge: EdgeEvidence): number => {
    const key = `${edge.from} ${edge.to} ${edge.kind} ${isWire(edge)}`;
    const wire = wires.get(key) ?? wires.size;
    wires.set(key, wire);
    return wire;
  };
  return edges.map((edge) => {
    const lines = Array.from({ length: knots.count - 1 }, (_, piece) =>
      supportLine(edge, knotTime(knots, piece), knotTime(knots, piece + 1)),
    );
    const spreads = lines.flatMap((line) => (line ? [line.spread] : [])).sort((a, b) => a - b);
    const spread = spreads[spreads.length >> 1] ?? 0;
    return {
      edge,
      like: names.indexOf(edge.like),
      lines,
      spread,
      wire: wireOf(edge),
      sigma: FIRST_SIGMA_NS + spread,
      excess: 1,
      residual: 0,
    };
  });
}

/** Before anything is known of delays. */
const FIRST_SIGMA_NS = 20_000;

interface Places {
  readonly count: number;
  /** Index of the unknown; -1: known to be 0. */
  of(domain: number, knot: number): number;
  readonly solved: readonly number[];
}

function unknownPlaces(references: References, knots: Knots): Places {
  const solved = references.flatMap((reference, domain) => (reference === domain ? [] : [domain]));
  const base = new Int32Array(references.length).fill(-1);
  solved.forEach((domain, i) => (base[domain] = i * knots.count));
  return {
    count: solved.length * knots.count,
    solved,
    of: (domain, knot) => (base[domain]! < 0 ? -1 : base[domain]! + knot),
  };
}

/** Indices and coefficients of: correction of `from` at `sent`, minus that of `to` at `received`, plus the delay. */
function terms(link: Link, time: number, delay: number, place: Places, knots: Knots) {
  const { from, to } = link.edge;
  const a = pieceAt(knots, time);
  const b = pieceAt(knots, time + delay);
  const shareA = shareAt(knots, a, time);
  const shareB = shareAt(knots, b, time + delay);
  return {
    indices: [
      place.of(from, a),
      place.of(from, a + 1),
      place.of(to, b),
      place.of(to, b + 1),
      place.count + link.like,
    ],
    coefficients: [1 - shareA, shareA, shareB - 1, -shareB, 1],
  };
}

/** Returns the numbers of the rows. */
function addLines(system: SparseLeastSquares, link: Link, place: Places, knots: Knots): number[] {
  return link.lines.flatMap((line) =>
    line === null
      ? []
      : line.times.map((time, i) => {
          const { indices, coefficients } = terms(link, time, line.delays[i]!, place, knots);
          return system.add(indices, coefficients, line.delays[i]!, link.sigma);
        }),
  );
}

function addPriors(system: SparseLeastSquares, place: Places, knots: Knots, curvature: number): void {
  const rate = RATE_PRIOR * knots.step;
  const bend = 3 * curvature * knots.step ** 2;
  for (const domain of place.solved) {
    for (let k = 0; k + 1 < knots.count; k++) {
      system.add([place.of(domain, k), place.of(domain, k + 1)], [-1, 1], 0, rate);
      if (k === 0) continue;
      system.add(
        [place.of(domain, k - 1), place.of(domain, k), place.of(domain, k + 1)],
        [1, -2, 1],
        0,
        bend,
      );
    }
  }
}

/** Where one likeness is seen in one direction only, and another in the other, something must relate their delays. */
function addLikenessPrior(system: SparseLeastSquares, first: number, names: readonly string[]): number[] {
  return names.map((_, i) =>
    i === 0
      ? system.add([first], [1], 0, likenessSigma(0, 0, i))
      : system.add([first + i - 1, first + i], [-1, 1], 0, likenessSigma(0, 0, i)),
  );
}

/** The first one's only keeps a delay that nothing else tells from running away. */
function likenessSigma(delay: number, before: number, i: number): number {
  return LIKENESS_PRIOR * Math.max(FIRST_SIGMA_NS, delay, before) * (i === 0 ? 1e3 : 1);
}

/**
 * Standard errors of minimum delays: how like the others a link is said to be, how restless it is, and whether it proves
 * unlike. What a wire is unlike others it is in all its likenesses: together they say no more than the best of them.
 */
function statedSigmas(links: readonly Link[], delayOf: (link: Link) => number, alike: number): number[] {
  const own = links.map((link) => Math.max(1, relativeSpread(link.edge, alike) * delayOf(link)));
  const least = new Float64Array(links.length).fill(Infinity);
  const weight = new Float64Array(links.length);
  links.forEach(({ wire }, i) => {
    least[wire] = Math.min(least[wire]!, own[i]!);
    weight[wire]! += own[i]! ** -2;
  });
  return links.map((link, i) => {
    const shared = least[link.wire]! * Math.sqrt(weight[link.wire]!);
    return link.excess * Math.hypot(own[i]! * shared, link.spread, FLOOR_SIGMA_NS);
  });
}

/** Residuals beyond this are not those of a link like the others: by what was stated, or by what the others show. */
function unlikeBeyond(link: Link, delay: number, alike: number, shown: number | null): number {
  const beyond = (spread: number): number =>
    UNLIKE * Math.hypot(spread * Math.max(0, delay), link.spread, FLOOR_SIGMA_NS);
  const stated = beyond(relativeSpread(link.edge, alike));
  return shown === null || !isWire(link.edge) ? stated : Math.min(stated, beyond(shown));
}

/** Links whose minimum delays are unlike those of their likeness, worst first. */
export function unlikeLinks(guess: Estimate, references: References, alike: number): Link[] {
  const { links, delays } = guess;
  const shown = shownAlike(links, references, ({ edge }) => delays.get(edge.like)!, 'median');
  const score = (link: Link): number =>
    Math.abs(link.residual) / unlikeBeyond(link, delays.get(link.edge.like)!, alike, shown);
  return links.filter((link) => isWire(link.edge) && score(link) > 1).sort((a, b) => score(b) - score(a));
}

/**
 * The relative spread of minimum delays as far as cycles show it, and the spread that can be relied on: more, where few cycles
 * show it.
 */
export interface MeasuredAlike {
  readonly spread: number;
  readonly atMost: number;
}

/** Null where there is nothing to compare. */
export function measuredAlike({ links, delays }: Estimate, references: References): MeasuredAlike | null {
  const spread = shownAlike(links, references, ({ edge }) => delays.get(edge.like)!, 'root mean square');
  if (spread === null) return null;
  const { freedom } = wiresShown(links, references);
  return { spread, atMost: spread / Math.sqrt(lowChiSquare(freedom) / freedom) };
}

/** Below it lies one in forty (Wilson and Hilferty). */
function lowChiSquare(freedom: number): number {
  const part = 2 / (9 * freedom);
  return freedom * (1 - part - 1.96 * Math.sqrt(part)) ** 3;
}

/** 'median': what half of the links keep to, as a standard error; not moved by a few that are unlike. */
function shownAlike(
  links: readonly Link[],
  references: References,
  delayOf: (link: Link) => number,
  by: 'median' | 'root mean square',
): number | null {
  const { wires, freedom } = wiresShown(links, references);
  if (freedom < Math.max(2, wires.length / 8)) return null;
  const squares = wires
    .map((link) => (link.residual / Math.max(1, delayOf(link))) ** 2)
    .sort((a, b) => a - b);
  const mean =
    by === 'median'
      ? squares[squares.length >> 1]! * SQUARED_ERROR_PER_MEDIAN
      : squares.reduce((sum, square) => sum + square, 0) / squares.length;
  return Math.sqrt((mean * wires.length) / freedom);
}

/** The best link of each wire, and how many of them are more than it takes to solve for the clocks. */
function wiresShown(links: readonly Link[], references: References) {
  const best = new Map<number, Link>();
  for (const link of links.filter(({ edge }) => isWire(edge))) {
    const known = best.get(link.wire);
    if (!known || link.sigma < known.sigma) best.set(link.wire, link);
  }
  const wires = [...best.values()];
  const kinds = new Set(wires.map(({ edge }) => edge.kind)).size;
  const solved = references.filter((reference, domain) => reference !== domain).length;
  return { wires, freedom: wires.length - solved - kinds };
}

/** Of a normal distribution. */
const SQUARED_ERROR_PER_MEDIAN = 1.4826 ** 2;

/** Variances of the corrections under the stated errors of links, which last for the whole run. ns². */
export interface Variances {
  /** Of the difference of two domains of one group. */
  between(a: number, b: number): number;
}

/** `alike`: relative spread of minimum delays. */
export function linkVariances(references: References, { links, delays }: Estimate, alike: number): Variances {
  const solved = references.flatMap((reference, domain) => (reference === domain ? [] : [domain]));
  const place = new Int32Array(references.length).fill(-1);
  solved.forEach((domain, i) => (place[domain] = i));
  const matrix = new DenseNormalMatrix(solved.length + delays.size);
  statedSigmas(links, ({ edge }) => delays.get(edge.like)!, alike).forEach((sigma, i) => {
    const { edge, like } = links[i]!;
    matrix.add([place[edge.from]!, place[edge.to]!, solved.length + like], [1, -1, 1], sigma);
  });
  for (let i = 0; i < solved.length; i++) matrix.add([i], [1], 1e12);
  [...delays.values()].forEach((delay, i, all) => {
    const sigma = likenessSigma(delay, all[i - 1] ?? 0, i);
    const here = solved.length + i;
    if (i === 0) matrix.add([here], [1], sigma);
    else matrix.add([here - 1, here], [-1, 1], sigma);
  });
  matrix.factor();
  return { between: (a, b) => (a === b ? 0 : matrix.variance(place[a]!, place[b]!)) };
}

/** What the estimate says a pair's true delay was: never below 0 if the clocks are right. */
export function slack(
  knots: Knots,
  from: Float64Array,
  to: Float64Array,
  time: number,
  delay: number,
): number {
  return delay - correctionAt(knots, from, time) + correctionAt(knots, to, time + delay);
}
