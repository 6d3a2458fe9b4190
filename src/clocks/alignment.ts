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

import { append } from '../base/extremes.js';
import { findAlike, unlikeLinks, type AlikeFound } from './alike.js';
import { findJump, worstLinks, type Culprit } from './contradictions.js';
import { placeKnots, type Knots } from './corrections.js';
import { delaysOf, estimate, type Estimate } from './estimate.js';
import { isCertain, NARROWEST_WINDOW_NS, type EdgeEvidence } from './evidence.js';
import { groupReferences } from './graph.js';
import { PieceHulls } from './edge_hulls.js';
import { project } from './projection.js';
import type { Interval } from './readings.js';
import { sureBounds, type SureBounds } from './sure_bounds.js';
import { variances } from './variances.js';
import { seenWander } from './wander.js';

export interface AlignmentOptions {
  /** Minimum delays of like links differ by this part of themselves (one standard error). */
  readonly alike: number;
  /** Most that a clock's rate changes, ppm per minute. */
  readonly wanderPpmPerMinute: number;
}

export const ALIGNMENT_DEFAULTS: AlignmentOptions = { alike: 0.35, wanderPpmPerMinute: 3 };

/** Standard errors of a 99 % bound, with a margin for the estimate's own noise. */
const LIKELY = 2.8;
/** ns: evidence is contradictory if projection leaves more than this violated. */
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
  /** Per domain its group's first domain. */
  readonly references: readonly number[];
  /** The divided pieces, for which hard bounds hold. */
  readonly spans: Knots;
  /** Truth minus estimate against the group's reference, per span and domain. */
  readonly hard: readonly (readonly Interval[])[];
  /** Per domain: its hard bounds rest on causality alone, not also on credits, which are assumed to be true. */
  readonly sure: readonly boolean[];
  /** 99 % of |truth - estimate| of two domains of a group in a piece, ns; without the hard bound. */
  readonly likely: (a: number, b: number, piece: number) => number;
  /** Hard bounds of any pair of domains: [a against b], per span. */
  readonly hardBetween: (a: number, b: number, span: number) => Interval;
  /** Most that a clock's rate changes, as declared, 1/ns. */
  readonly mostWander: number;
  /** Per domain, largest observed change of its rate, 1/ns; null: the run is too short, or no traffic shows it. */
  readonly wander: readonly (number | null)[];
  readonly alike: AlikeFound;
  /** Least delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
  readonly unlike: readonly UnlikeLink[];
  /** Left out, in the order found. */
  readonly culprits: readonly Culprit[];
}

/**
 * Domains are numbers from 0; their hosts are not known here. `sure`: the evidence for hard bounds, by default the part of `edges` without
 * assumptions.
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
      const { references, guess, used: inUse, pieces } = attempt;
      const most = perNs(options.wanderPpmPerMinute);
      const bounds = sureBounds(references, guess, inUse, certain, pieces, most);
      if (bounds.contradiction === null) return finish(domains, attempt, bounds, options, culprits);
      found = [bounds.contradiction];
    }
    append(culprits, found);
    const isBelieved = (edge: EdgeEvidence): boolean => !found.some((culprit) => isOf(edge, culprit));
    // Evidence that still contradicts itself is not used: every domain stands alone.
    used = round < LAST_ROUND ? used.filter(isBelieved) : [];
    certain = round < LAST_ROUND ? certain.filter(isBelieved) : [];
  }
}

/** This many culprits are found one by one, each without the ones before... */
const ONE_BY_ONE = 16;
/** ...then all that are at least half as bad as the worst... */
const HALF_AS_BAD = 0.5;
/** ...up to this round. */
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

/** `asBadAs`: also names links that contradict the others by this part of the worst. */
function alignOnce(
  domains: number,
  used: readonly EdgeEvidence[],
  certain: readonly EdgeEvidence[],
  options: AlignmentOptions,
  asBadAs: number,
): Attempt {
  const references = groupReferences(domains, used);
  const inside = used.filter(({ from, to }) => references[from] === references[to]);
  // If no two hosts are solved together, one-sided bounds are all there is, as long as any evidence lasts.
  const knots = knotsFor(inside.length > 0 ? inside : [...used, ...certain], domains);
  const mostWander = perNs(options.wanderPpmPerMinute);
  const guess = estimate(domains, references, inside, knots, {
    alike: options.alike,
    mostWander: 2 * mostWander,
  });
  const pieces = new PieceHulls(knots, mostWander);
  const hulls = pieces.of(inside);
  const estimated = guess.corrections.map((values) => values.slice());
  const jump = findJump(domains, guess);
  const violated = jump === null ? project(knots, guess.corrections, hulls, references) : 0;
  const culprits =
    jump !== null ? [jump] : violated > TOLERANCE_NS ? worstLinks(knots, estimated, hulls, asBadAs) : [];
  return { used, references, guess, pieces, culprits };
}

function finish(
  domains: number,
  { references, guess }: Attempt,
  bounds: SureBounds,
  options: AlignmentOptions,
  culprits: readonly Culprit[],
): Alignment {
  const { knots, corrections, delays, wander } = guess;
  const delayOf = delaysOf(guess);
  const { alike, found } = findAlike(options.alike, guess.links, references, delayOf);
  const variance = variances(references, guess, alike);
  const bend = (a: number, b: number): number => ((wander[a]! + wander[b]!) * knots.step ** 2) / 8;
  return {
    knots,
    corrections,
    references,
    spans: bounds.spans,
    hard: hardPerSpan(domains, references, bounds),
    hardBetween: bounds.between,
    sure: bounds.sure,
    mostWander: perNs(options.wanderPpmPerMinute),
    wander: seenWander(guess, references).map((seen, domain) =>
      references.some((reference, other) => reference === references[domain] && other !== domain)
        ? seen
        : null,
    ),
    likely: (a, b, piece) =>
      a === b
        ? 0
        : references[a] === references[b]
          ? LIKELY * Math.sqrt(variance(a, b, piece)) + bend(a, b)
          : Infinity,
    alike: found,
    delays,
    unlike: unlikeLinks(guess.links, references, delayOf, options.alike).map(
      ({ edge: { from, to, like }, residual }) => ({ from, to, like, by: residual }),
    ),
    culprits,
  };
}

/** At most this many corrections can be solved for. */
const MANY_CORRECTIONS = 8192;

function knotsFor(edges: readonly EdgeEvidence[], domains: number): Knots {
  let first = Infinity;
  let last = -Infinity;
  let grid = NARROWEST_WINDOW_NS;
  for (const { windowNs, windows } of edges) {
    first = Math.min(first, windows[0]!.index * windowNs);
    last = Math.max(last, (windows.at(-1)!.index + 1) * windowNs);
    grid = Math.max(grid, windowNs);
  }
  return edges.length === 0
    ? placeKnots(0, grid, grid)
    : placeKnots(first, last, grid, MANY_CORRECTIONS / domains);
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
