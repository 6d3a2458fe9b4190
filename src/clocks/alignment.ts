/**
 * From evidence to clocks: groups of domains that messages connect both ways are put on one axis, with bounds. Domains
 * that are not connected both ways stay groups of their own; nothing here says where groups lie against each other.
 *
 *   edges ──▶ groups ──▶ estimate ──▶ projection onto all pairs ──▶ bounds
 *               ▲                          │ contradiction
 *               └── without the culprit ◀──┘
 */

import { HardBounds, type Interval } from './bounds.js';
import { findJump, worstLink, type Culprit } from './contradictions.js';
import { placeKnots, type Knots } from './corrections.js';
import {
  estimate,
  linkVariances,
  measuredAlike,
  unlikeLinks,
  type Estimate,
  type MeasuredAlike,
} from './estimate.js';
import { NARROWEST_WINDOW_NS, type EdgeEvidence } from './evidence.js';
import { connectedBothWays } from './graph.js';
import { hullsByPiece, project } from './projection.js';

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

/** Relative spreads of minimum delays. */
export interface AlikeFound {
  readonly stated: number;
  /** Null: nothing shows it. */
  readonly measured: number | null;
  /** What the 99 % bound rests on. */
  readonly used: number;
}

export interface Alignment {
  readonly knots: Knots;
  /** Per domain, at the knots: common axis = coarse axis + correction. */
  readonly corrections: readonly Float64Array[];
  /** Per domain the first domain of its group. */
  readonly references: readonly number[];
  /** Truth minus estimate against the group's reference, per piece and domain. */
  readonly hard: readonly (readonly Interval[])[];
  /** 99 % of |truth - estimate| of two domains of a group, ns; before the hard bound is looked at. */
  readonly likely: (a: number, b: number) => number;
  /** Hard bounds of any pair of domains: [a against b], per piece. */
  readonly hardBetween: (a: number, b: number, piece: number) => Interval;
  readonly alike: AlikeFound;
  /** Least delays by likeness, ns. */
  readonly delays: ReadonlyMap<string, number>;
  readonly unlike: readonly UnlikeLink[];
  /** Left out, in the order found. */
  readonly culprits: readonly Culprit[];
}

/** Domains are numbered from 0. Nothing here knows which hosts they are. */
export function align(
  domains: number,
  edges: readonly EdgeEvidence[],
  options: AlignmentOptions = ALIGNMENT_DEFAULTS,
): Alignment {
  const culprits: Culprit[] = [];
  let used = edges.filter(({ from, to, pairs }) => from !== to && pairs > 0);
  for (;;) {
    const attempt = alignOnce(domains, used, options);
    const culprit = attempt.culprit;
    if (culprit === null) return finish(domains, attempt, options, culprits);
    culprits.push(culprit);
    used = used.filter((edge) => !isOf(edge, culprit));
  }
}

function isOf({ from, to }: EdgeEvidence, culprit: Culprit): boolean {
  return culprit.what === 'link'
    ? from === culprit.from && to === culprit.to
    : from === culprit.domain || to === culprit.domain;
}

interface Attempt {
  readonly used: readonly EdgeEvidence[];
  readonly references: readonly number[];
  readonly guess: Estimate;
  readonly culprit: Culprit | null;
}

function alignOnce(domains: number, used: readonly EdgeEvidence[], options: AlignmentOptions): Attempt {
  const references = groupReferences(domains, used);
  const inside = used.filter(({ from, to }) => references[from] === references[to]);
  const knots = knotsFor(inside);
  const curvature = perNs(options.curvaturePpmPerMinute);
  const guess = estimate(domains, references, inside, knots, { alike: options.alike, curvature });
  const hulls = hullsByPiece(inside, knots);
  const estimated = guess.corrections.map((values) => values.slice());
  const jump = findJump(domains, guess);
  const violated = jump === null ? project(knots, guess.corrections, hulls, references) : 0;
  const culprit = jump ?? (violated > TOLERANCE_NS ? worstLink(knots, estimated, hulls) : null);
  return { used, references, guess, culprit };
}

function finish(
  domains: number,
  { used: edges, references, guess }: Attempt,
  options: AlignmentOptions,
  culprits: readonly Culprit[],
): Alignment {
  const { knots, corrections, delays } = guess;
  const curvature = perNs(options.curvaturePpmPerMinute);
  const bounds = new HardBounds(references, edges, knots, corrections, curvature);
  const measured = measuredAlike(guess, references);
  const used = usedAlike(options.alike, measured);
  const variances = linkVariances(references, guess, used);
  const bend = (curvature * knots.step ** 2) / 8;
  return {
    knots,
    corrections,
    references,
    hard: hardPerPiece(domains, references, bounds, knots),
    hardBetween: (a, b, piece) => bounds.against(b, piece)[a]!,
    likely: (a, b) =>
      a === b
        ? 0
        : references[a] === references[b]
          ? LIKELY * Math.sqrt(variances.between(a, b)) + bend
          : Infinity,
    alike: { stated: options.alike, measured: measured?.spread ?? null, used },
    delays,
    unlike: unlikeLinks(guess, references, options.alike).map(({ edge, residual }) => ({
      from: edge.from,
      to: edge.to,
      like: edge.like,
      by: residual,
    })),
    culprits,
  };
}

/**
 * What links are taken to be alike to: what was stated, unless cycles show it. They may show that links are less alike than stated,
 * or more: then with room for how few they are.
 */
function usedAlike(stated: number, measured: MeasuredAlike | null): number {
  if (measured === null) return stated;
  return measured.spread > stated ? measured.spread : Math.min(stated, measured.atMost);
}

function groupReferences(domains: number, edges: readonly EdgeEvidence[]): number[] {
  const references = new Array<number>(domains).fill(-1);
  for (const group of connectedBothWays(domains, edges)) {
    for (const domain of group) references[domain] = group[0]!;
  }
  return references;
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

function hardPerPiece(
  domains: number,
  references: readonly number[],
  bounds: HardBounds,
  knots: Knots,
): Interval[][] {
  const members = new Map<number, number[]>();
  references.forEach((reference, domain) => {
    members.set(reference, [...(members.get(reference) ?? []), domain]);
  });
  return Array.from({ length: knots.count - 1 }, (_, piece) => {
    const intervals = new Array<Interval>(domains).fill({ below: 0, above: 0 });
    for (const [reference, group] of members) {
      if (group.length === 1) continue;
      const all = bounds.against(reference, piece);
      for (const domain of group) intervals[domain] = all[domain]!;
    }
    return intervals;
  });
}

/** ppm per minute → 1/ns. */
const perNs = (ppmPerMinute: number): number => (ppmPerMinute * 1e-6) / 60e9;
