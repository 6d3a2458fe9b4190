/**
 * From evidence to clocks: groups of domains that messages connect both ways are put on one axis, with bounds. Domains
 * that are not connected both ways stay groups of their own; nothing here says where groups lie against each other.
 *
 *   edges ──▶ groups ──▶ estimate ──▶ projection onto all pairs ──▶ bounds
 *               ▲                          │ contradiction
 *               └── without the culprit ◀──┘
 *
 *   evidence   graph     estimate     projection                    bounds, sure_bounds (hard)
 *                        floors       contradictions (who)          variances, alike    (99 %)
 */

import { findAlike, unlikeLinks, type AlikeFound } from './alike.js';
import { findJump, worstLinks, type Culprit, type UnsteadyClock } from './contradictions.js';
import { placeKnots, type Knots } from './corrections.js';
import { delaysOf, estimate, type Estimate } from './estimate.js';
import { isCertain, NARROWEST_WINDOW_NS, type EdgeEvidence } from './evidence.js';
import { groupReferences } from './graph.js';
import { PieceHulls } from './edge_hulls.js';
import { project } from './projection.js';
import type { Interval } from './readings.js';
import { sureBounds, type SureBounds } from './sure_bounds.js';
import { variances } from './variances.js';

export interface AlignmentOptions {
  /** Minimum delays of like links differ by this part of themselves (one standard error). */
  readonly alike: number;
  /** Most that a clock's rate changes, ppm per minute. */
  readonly curvaturePpmPerMinute: number;
}

export const ALIGNMENT_DEFAULTS: AlignmentOptions = { alike: 0.35, curvaturePpmPerMinute: 0.1 };

/** Standard errors of a 99 % bound, with room for the noise of the estimate itself. */
const LIKELY = 2.8;
/** What projection may leave violated, ns, before the evidence counts as contradictory. */
const TOLERANCE_NS = 50;

export interface UnlikeLink {
  readonly from: number;
  readonly to: number;
  readonly like: string;
  /** Longer than its like by, ns. */
  readonly by: number;
}

export interface Alignment {
  readonly knots: Knots;
  /** Per domain, at the knots: common axis = coarse axis + correction. */
  readonly corrections: readonly Float64Array[];
  /** Per domain the first domain of its group. */
  readonly references: readonly number[];
  /** The pieces divided: what hard bounds are stated for. */
  readonly spans: Knots;
  /** Truth minus estimate against the group's reference, per span and domain. */
  readonly hard: readonly (readonly Interval[])[];
  /** Per domain: its hard bounds rest on causality alone; else also on credits, which are taken for true. */
  readonly sure: readonly boolean[];
  /** 99 % of |truth - estimate| of two domains of a group in a piece, ns; before the hard bound is looked at. */
  readonly likely: (a: number, b: number, piece: number) => number;
  /** Hard bounds of any pair of domains: [a against b], per span. */
  readonly hardBetween: (a: number, b: number, span: number) => Interval;
  /** Most that a clock's rate changes, 1/ns: as declared, or more, where that is not enough. */
  readonly curvature: number;
  /** Domains of which one bends by more than is declared. */
  readonly restless: readonly number[];
  readonly alike: AlikeFound;
  /** Least delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
  readonly unlike: readonly UnlikeLink[];
  /** Left out, in the order found. */
  readonly culprits: readonly Culprit[];
}

/**
 * Domains are numbered from 0. Nothing here knows which hosts they are. `sure`: the evidence that hard bounds rest on; what needs
 * no assumption, by default those of `edges`.
 */
export function align(
  domains: number,
  edges: readonly EdgeEvidence[],
  options: AlignmentOptions = ALIGNMENT_DEFAULTS,
  sure: readonly EdgeEvidence[] = edges.filter(isCertain),
): Alignment {
  const culprits: Culprit[] = [];
  const between = ({ from, to, pairs }: EdgeEvidence): boolean => from !== to && pairs > 0;
  let used = edges.filter(between);
  let certain = sure.filter(between);
  for (let round = 0; ; round++) {
    const attempt = alignOnce(domains, used, certain, options, round < ONE_BY_ONE ? 1 : HALF_AS_BAD);
    let found = attempt.culprits;
    if (found.length === 0) {
      const steady = steadyBounds(attempt, certain, perNs(options.curvaturePpmPerMinute));
      if ('curvature' in steady) return finish(domains, attempt, steady, options, culprits);
      found = [steady];
    }
    culprits.push(...found);
    const isBelieved = (edge: EdgeEvidence): boolean => !found.some((culprit) => isOf(edge, culprit));
    // Evidence that still contradicts itself is none at all: every domain for itself.
    used = round < LAST_ROUND ? used.filter(isBelieved) : [];
    certain = round < LAST_ROUND ? certain.filter(isBelieved) : [];
  }
}

/** So many culprits are looked for one by one, each in the light of the others' absence... */
const ONE_BY_ONE = 16;
/** ...then all that are half as bad as the worst... */
const HALF_AS_BAD = 0.5;
/** ...and not for ever. */
const LAST_ROUND = 40;

function isOf({ from, to }: EdgeEvidence, culprit: Culprit): boolean {
  if (culprit.what === 'link') return from === culprit.from && to === culprit.to;
  const domains = culprit.what === 'clock-jump' ? [culprit.domain] : culprit.domains;
  return domains.includes(from) || domains.includes(to);
}

interface Attempt {
  readonly used: readonly EdgeEvidence[];
  readonly references: readonly number[];
  readonly guess: Estimate;
  readonly pieces: PieceHulls;
  readonly culprits: readonly Culprit[];
}

/** `asBadAs`: links that contradict the others by this part of the worst are named with it. */
function alignOnce(
  domains: number,
  used: readonly EdgeEvidence[],
  certain: readonly EdgeEvidence[],
  options: AlignmentOptions,
  asBadAs: number,
): Attempt {
  const references = groupReferences(domains, used);
  const inside = used.filter(({ from, to }) => references[from] === references[to]);
  // Where no two hosts are solved together one-sided bounds are all there is to say, for as long as any evidence lasts.
  const knots = knotsFor(inside.length > 0 ? inside : [...used, ...certain]);
  const curvature = perNs(options.curvaturePpmPerMinute);
  const guess = estimate(domains, references, inside, knots, { alike: options.alike, curvature });
  const pieces = new PieceHulls(knots, curvature);
  const hulls = pieces.of(inside);
  const estimated = guess.corrections.map((values) => values.slice());
  const jump = findJump(domains, guess);
  const violated = jump === null ? project(knots, guess.corrections, hulls, references) : 0;
  const culprits =
    jump !== null ? [jump] : violated > TOLERANCE_NS ? worstLinks(knots, estimated, hulls, asBadAs) : [];
  return { used, references, guess, pieces, culprits };
}

/** Hard bounds, and the bend of clocks that they rest on, 1/ns. */
interface Steady {
  readonly bounds: SureBounds;
  readonly curvature: number;
  /** Who bends by more than is declared; null: nobody. */
  readonly restless: UnsteadyClock | null;
}

/** As declared; or so many times that, where a clock shows that it bends more: machines warm up. */
const TIMES_DECLARED = [1, 4, 16];

/** Where messages are so few that clocks may lie farther apart nobody knows a bend from a jump, ns to either side. */
const MOST_OPEN_NS = 60_000;

/** Whether all clocks of the group are known well in spite of that bend. */
function isClose({ domains }: UnsteadyClock, references: readonly number[], bounds: SureBounds): boolean {
  const own = references[domains[0]!]!;
  return references.every((reference, domain) => {
    if (reference !== own || domain === own) return true;
    for (let span = 0; span + 1 < bounds.spans.count; span++) {
      const { below, above } = bounds.between(domain, own, span);
      if (!(below + above <= 2 * MOST_OPEN_NS)) return false;
    }
    return true;
  });
}

/** The contradiction where no clock's bend explains the pairs. */
function steadyBounds(
  { used, references, guess, pieces }: Attempt,
  sure: readonly EdgeEvidence[],
  declared: number,
): Steady | UnsteadyClock {
  let restless: UnsteadyClock | null = null;
  for (const times of TIMES_DECLARED) {
    const curvature = times * declared;
    const hulls = times === 1 ? pieces : new PieceHulls(guess.knots, curvature);
    const bounds = sureBounds(references, guess, used, sure, hulls, curvature);
    if (bounds.contradiction === null) {
      if (restless !== null && !isClose(restless, references, bounds)) break;
      return { bounds, curvature, restless };
    }
    restless ??= bounds.contradiction;
  }
  return restless!;
}

function finish(
  domains: number,
  { references, guess }: Attempt,
  { bounds, curvature, restless }: Steady,
  options: AlignmentOptions,
  culprits: readonly Culprit[],
): Alignment {
  const { knots, corrections, delays } = guess;
  const delayOf = delaysOf(guess);
  const { alike, found } = findAlike(options.alike, guess.links, references, delayOf);
  const variance = variances(references, guess, alike, curvature);
  const bend = (curvature * knots.step ** 2) / 8;
  return {
    knots,
    corrections,
    references,
    spans: bounds.spans,
    hard: hardPerSpan(domains, references, bounds),
    hardBetween: bounds.between,
    sure: bounds.sure,
    curvature,
    restless: restless?.domains ?? [],
    likely: (a, b, piece) =>
      a === b
        ? 0
        : references[a] === references[b]
          ? LIKELY * Math.sqrt(variance(a, b, piece)) + bend
          : Infinity,
    alike: found,
    delays,
    unlike: unlikeLinks(guess.links, references, delayOf, options.alike).map(
      ({ edge: { from, to, like }, residual }) => ({ from, to, like, by: residual }),
    ),
    culprits,
  };
}

function knotsFor(edges: readonly EdgeEvidence[]): Knots {
  let first = Infinity;
  let last = -Infinity;
  let grid = NARROWEST_WINDOW_NS;
  for (const { windowNs, windows } of edges) {
    first = Math.min(first, windows[0]!.index * windowNs);
    last = Math.max(last, (windows.at(-1)!.index + 1) * windowNs);
    grid = Math.max(grid, windowNs);
  }
  return edges.length === 0 ? placeKnots(0, grid, grid) : placeKnots(first, last, grid);
}

function hardPerSpan(domains: number, references: readonly number[], bounds: SureBounds): Interval[][] {
  const members = new Map<number, number[]>();
  references.forEach((reference, domain) => {
    const known = members.get(reference);
    if (known) known.push(domain);
    else members.set(reference, [domain]);
  });
  const hard = Array.from({ length: bounds.spans.count - 1 }, () =>
    new Array<Interval>(domains).fill({ below: 0, above: 0 }),
  );
  for (const [reference, group] of members) {
    if (group.length === 1) continue;
    for (const [span, intervals] of hard.entries())
      for (const domain of group) intervals[domain] = bounds.between(domain, reference, span);
  }
  return hard;
}

/** How much a rate changes: ppm per minute → 1/ns. */
export const perNs = (ppmPerMinute: number): number => (ppmPerMinute * 1e-6) / 60e9;
