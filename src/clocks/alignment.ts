/**
 * From evidence to clocks: groups of domains that messages connect both ways are put on one axis, with bounds. Domains
 * that are not connected both ways stay groups of their own; nothing here says where groups lie against each other.
 *
 *   edges ──▶ groups ──▶ jumps ──▶ estimate ──▶ projection onto all pairs ──▶ bounds
 *               ▲  ▲       │                          │ contradiction
 *               │  └───────┴── two clocks for one     │
 *               └──────────────── without the culprit ┘
 *
 *   evidence   graph     jumps       estimate   projection                    bounds, sure_bounds (hard)
 *                        clock_parts minima     contradictions (who)          variances, similar_links (99 %)
 */

import { addTo } from '../base/grouped.js';
import { findAlike, unlikeLinks, type AlikeFound } from './similar_links.js';
import type { Interval } from './bounds.js';
import { edgeSplitter, splitParts, wholeClock, type ClockPart } from './clock_parts.js';
import { worstLinks, type Contradiction, type Culprit } from './contradictions.js';
import { placeKnots, type Knots } from './corrections.js';
import { delaysOf, estimate, type Estimate } from './estimate.js';
import { isCertain, NARROWEST_WINDOW_NS, type EdgeEvidence } from './evidence.js';
import { groupReferences } from './graph.js';
import { PieceHulls } from './edge_hulls.js';
import { findJump, findJumpOf, type Jump, type JumpsSeen } from './jumps.js';
import { linksOf } from './links.js';
import { project } from './projection.js';
import { sureBounds, type SureBounds } from './sure_bounds.js';
import { variances } from './variances.js';
import { seenWander } from './rate_changes.js';

export interface AlignmentOptions {
  /** Minimum delays of similar links differ by this fraction of themselves (one standard error). */
  readonly alike: number;
  /** Most that a clock's rate changes, ppm per minute. */
  readonly wanderPpmPerMinute: number;
}

export const ALIGNMENT_DEFAULTS: AlignmentOptions = { alike: 0.35, wanderPpmPerMinute: 3 };

/**
 * Standard errors of a 99 % bound. More than the 2.58 of a normal distribution, because the delays that they are parts of are estimated,
 * too.
 */
const LIKELY = 2.8;
/** ns: evidence is contradictory if projection leaves more than this violated. */
const TOLERANCE_NS = 50;

export interface UnlikeLink {
  readonly from: number;
  readonly to: number;
  readonly like: string;
  /** How much longer its minimum delay is than that of similar links, ns. */
  readonly by: number;
}

export interface Alignment {
  readonly knots: Knots;
  /** Per domain its clocks, by time. There are several if its counter jumped. The first clock has the number of the domain. */
  readonly parts: readonly (readonly ClockPart[])[];
  /** Per clock, at the knots: common axis = coarse axis + correction. */
  readonly corrections: readonly Float64Array[];
  /** Per domain its group's first domain. */
  readonly references: readonly number[];
  /** The divided pieces, for which hard bounds hold. */
  readonly spans: Knots;
  /** Truth minus estimate against the group's reference, per span and clock. */
  readonly hard: readonly (readonly Interval[])[];
  /** Per domain: whether its hard bounds rest on causality alone. Otherwise they also rest on credits, which are assumed to be true. */
  readonly sure: readonly boolean[];
  /** 99 % bound of |truth - estimate| for two clocks of a group in a piece, ns, without the hard bound. */
  readonly likely: (a: number, b: number, piece: number) => number;
  /** Hard bounds of any pair of clocks: [a against b], per span. */
  readonly hardBetween: (a: number, b: number, span: number) => Interval;
  /** Most that a clock's rate changes, as declared, 1/ns. */
  readonly mostWander: number;
  /** Per domain, largest observed change of its rate, 1/ns; null: the run is too short, or no traffic shows it. */
  readonly wander: readonly (number | null)[];
  readonly alike: AlikeFound;
  readonly unlike: readonly UnlikeLink[];
  /**
   * Links and hosts that the evidence contradicts, in the order in which they were found. Their evidence is left out, except for clocks
   * that jumped.
   */
  readonly culprits: readonly Culprit[];
}

/**
 * Domains are numbers from 0. Their hosts are not known here. `sure`: the evidence for hard bounds, by default the part of `edges` without
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
  const parts = Array.from({ length: domains }, (_, domain) => wholeClock(domain));
  let clocks = domains;
  let jumps = 0;
  const domainOf = (clock: number): number =>
    parts.findIndex((own) => own.some((part) => part.clock === clock));
  const leaveOut = (isOut: (edge: EdgeEvidence) => boolean): void => {
    used = used.filter((edge) => !isOut(edge));
    certain = certain.filter((edge) => !isOut(edge));
  };
  const most = perNs(options.wanderPpmPerMinute);
  for (let round = 0; ;) {
    const isPart = (clock: number): boolean => clock >= domains || parts[clock]!.length > 1;
    const references = groupReferences(clocks, used, isPart);
    const torn = parts.findIndex((own) =>
      own.some(({ clock }) => references[clock] !== references[own[0]!.clock]),
    );
    if (torn >= 0) {
      const own = parts[torn]!.map(({ clock }) => clock);
      leaveOut(({ from, to }) => own.includes(from) || own.includes(to));
      parts[torn] = wholeClock(torn);
      culprits.forEach((culprit, i) => {
        if (culprit.what === 'clock-jump' && culprit.domain === torn)
          culprits[i] = { ...culprit, isSplit: false };
      });
      continue;
    }
    const attempt = alignOnce(references, used, certain, options, {
      asBadAs: round < ONE_BY_ONE ? 1 : HALF_AS_BAD,
      mayJump: jumps < MOST_JUMPS,
    });
    const splitAt = (jump: Jump): void => {
      const [domain, other] = [domainOf(jump.clock), jump.other === null ? null : domainOf(jump.other)];
      const split = edgeSplitter(jump, clocks);
      [used, certain] = [split(used), split(certain)];
      parts[domain] = splitParts(parts[domain]!, jump, clocks++);
      const at = (jump.from + jump.to) / 2;
      culprits.push({ what: 'clock-jump', domain, other, at, jump: jump.jump, isSplit: true });
      jumps++;
    };
    if ('jump' in attempt) {
      splitAt(attempt.jump);
      continue;
    }
    let found = attempt.culprits;
    if (found.length === 0) {
      const { guess, pieces, tooSmall } = attempt;
      const bounds = withTooSmall(
        sureBounds(references, guess, used, certain, pieces, most),
        tooSmall,
        guess,
      );
      if (bounds.contradiction === null) return finish(references, guess, bounds, options, culprits, parts);
      found = [bounds.contradiction];
    }
    const jump = findJumpOf(hostsOf(found), clocks, attempt.guess.links, most);
    if (jump !== null && jumps < MOST_JUMPS) {
      splitAt(jump);
      continue;
    }
    for (const culprit of found) culprits.push(namedBy(culprit, domainOf));
    // Evidence that still contradicts itself is not used. Then every domain is placed alone.
    leaveOut((edge) => round >= LAST_ROUND || found.some((culprit) => isOf(edge, culprit)));
    round++;
  }
}

/**
 * Hard bounds that also hold if a counter jumped by too little to be seen. A clock has room on either side for the least delay of messages.
 * So such a jump breaks the bounds only by the part above the least delay.
 */
function withTooSmall(bounds: SureBounds, tooSmall: JumpsSeen['tooSmall'], guess: Estimate): SureBounds {
  const shortest = tooSmall.map(() => Infinity);
  for (const link of guess.links) {
    const delay = delaysOf(guess)(link) + link.residual;
    for (const clock of [link.edge.from, link.edge.to]) shortest[clock] = Math.min(shortest[clock]!, delay);
  }
  const wider = tooSmall.map((least, clock) => (least === null ? 0 : Math.max(0, least - shortest[clock]!)));
  return {
    ...bounds,
    between: (a, b, span) => {
      const { below, above } = bounds.between(a, b, span);
      const more = a === b ? 0 : Math.max(wider[a]!, wider[b]!);
      return { below: below + more, above: above + more };
    },
  };
}

/** Limit of the jumps that are found, one after the other. Clocks that jump more often are not steady. */
const MOST_JUMPS = 64;

/** This many culprits are found one by one, each without the ones before... */
const ONE_BY_ONE = 16;
/** ...then all that are at least half as bad as the worst... */
const HALF_AS_BAD = 0.5;
/** ...up to this round. */
const LAST_ROUND = 40;

const isOf = ({ from, to }: EdgeEvidence, culprit: Contradiction): boolean =>
  culprit.what === 'link'
    ? from === culprit.from && to === culprit.to
    : culprit.domains.includes(from) || culprit.domains.includes(to);

const hostsOf = (found: readonly Contradiction[]): number[] =>
  found.flatMap((culprit) => (culprit.what === 'link' ? [culprit.from, culprit.to] : culprit.domains));

const namedBy = (culprit: Contradiction, domainOf: (clock: number) => number): Culprit =>
  culprit.what === 'link'
    ? { ...culprit, from: domainOf(culprit.from), to: domainOf(culprit.to) }
    : { ...culprit, domains: [...new Set(culprit.domains.map(domainOf))] };

interface Attempt {
  readonly guess: Estimate;
  readonly pieces: PieceHulls;
  readonly tooSmall: JumpsSeen['tooSmall'];
  readonly culprits: readonly Contradiction[];
}

/** `asBadAs`: also names links that contradict the others by this part of the worst. */
function alignOnce(
  references: readonly number[],
  used: readonly EdgeEvidence[],
  certain: readonly EdgeEvidence[],
  options: AlignmentOptions,
  { asBadAs, mayJump }: { readonly asBadAs: number; readonly mayJump: boolean },
): Attempt | { readonly jump: Jump } {
  const clocks = references.length;
  const inside = used.filter(({ from, to }) => references[from] === references[to]);
  // If no two hosts can be solved together, there are only one-sided bounds. They last as long as the evidence.
  const knots = knotsFor(inside.length > 0 ? inside : [...used, ...certain], clocks);
  const mostWander = perNs(options.wanderPpmPerMinute);
  const linked = linksOf(inside);
  const { jump, tooSmall } = findJump(clocks, linked.links, mostWander);
  if (mayJump && jump !== null) return { jump };
  const guess = estimate(references, linked, knots, { alike: options.alike, mostWander });
  const pieces = new PieceHulls(knots, mostWander);
  const hulls = pieces.of(inside);
  const estimated = guess.corrections.map((values) => values.slice());
  const violated = project({ knots, corrections: guess.corrections, hulls }, references);
  const culprits = violated > TOLERANCE_NS ? worstLinks(knots, estimated, hulls, asBadAs) : [];
  return { guess, pieces, culprits, tooSmall };
}

function finish(
  references: readonly number[],
  guess: Estimate,
  bounds: SureBounds,
  options: AlignmentOptions,
  culprits: readonly Culprit[],
  parts: Alignment['parts'],
): Alignment {
  const { knots, corrections, wander } = guess;
  const delayOf = delaysOf(guess);
  const { alike, found } = findAlike(options.alike, guess.links, references, delayOf);
  const variance = variances(references, guess, alike);
  // How far a clock can bend between two knots.
  const bend = (clock: number): number => (wander.of(clock) * knots.step ** 2) / 8;
  const seen = seenWander(guess, references);
  const ofDomains = references.slice(0, parts.length);
  const domainOf = (clock: number): number =>
    parts.findIndex((own) => own.some((part) => part.clock === clock));
  return {
    knots,
    parts,
    corrections,
    references: ofDomains,
    spans: bounds.spans,
    hard: hardPerSpan(references.length, references, bounds),
    hardBetween: bounds.between,
    sure: parts.map((own) => own.every(({ clock }) => bounds.sure[clock])),
    mostWander: perNs(options.wanderPpmPerMinute),
    wander: parts.map((own, domain) =>
      ofDomains.some((reference, other) => reference === ofDomains[domain] && other !== domain)
        ? own.reduce((most: number | null, { clock }) => larger(most, seen[clock]!), null)
        : null,
    ),
    likely: (a, b, piece) =>
      a === b
        ? 0
        : references[a] === references[b]
          ? LIKELY * Math.sqrt(variance(a, b, piece) + bend(a) ** 2 + bend(b) ** 2)
          : Infinity,
    alike: found,
    unlike: unlikeLinks(guess.links, references, delayOf, options.alike).map(
      ({ edge: { from, to, like }, residual }) => ({
        from: domainOf(from),
        to: domainOf(to),
        like,
        by: residual,
      }),
    ),
    culprits,
  };
}

const larger = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);

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
    addTo(members, reference, domain);
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
