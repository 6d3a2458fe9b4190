/**
 * Finds the cause of contradicting evidence. If a host's clock jumps, *all* its links show it at the same moment: messages to it take
 * longer by the jump, messages from it shorter. A link with wrongly matched pairs, or with stamps of another meaning, stands alone.
 */

import { minOf } from '../base/extremes.js';
import type { Knots } from './corrections.js';
import { slack, type Estimate } from './estimate.js';
import type { EdgeHull } from './edge_hulls.js';
import { minimaOf, type Link } from './links.js';
import { violationOf } from './projection.js';

export type Culprit =
  /**
   * The host's clock jumped; ns, against the others. `other`: or that one's in the other direction, because they only have each other as
   * peers.
   */
  | {
      readonly what: 'clock-jump';
      readonly domain: number;
      readonly other: number | null;
      readonly at: number;
      readonly jump: number;
    }
  | UnsteadyClock
  /** Pairs of this link contradict the others by `by` ns. */
  | { readonly what: 'link'; readonly from: number; readonly to: number; readonly by: number };

/** Pairs contradict a clock as steady as declared: by this many ns at a time of the common axis. */
export interface UnsteadyClock {
  readonly what: 'clock-unsteady';
  readonly domains: readonly number[];
  readonly at: number;
  readonly by: number;
}

/** A jump must be larger than any natural change of a wire. */
const SMALLEST_JUMP_NS = 15_000;
/** At least this part of the jump must separate all minima before it from all after it. */
const CLEAR = 0.5;
/** Sub-windows looked at on each side of a jump, least and most. */
const LEAST_BESIDE = 3;
const MOST_BESIDE = 4;

/** A step in the minima of one link, as one of its ends sees it. */
interface SeenStep {
  readonly link: number;
  readonly cell: number;
  readonly step: number;
}

/** A domain's clock, as its links show it. */
interface DomainView {
  readonly steps: SeenStep[];
  /** Number of its links that count. */
  links: number;
  /** Domains it hears, and domains that hear it. */
  readonly into: Set<number>;
  readonly out: Set<number>;
}

/**
 * The clearest jump; null: none. If a host hears only one other, all its links show that one's jumps too: the one with more peers jumped.
 */
export function findJump(domains: number, estimate: Estimate): Culprit | null {
  const cellNs = cellOf(estimate.links);
  const views = viewsOf(domains, estimate, cellNs);
  const found = views.flatMap((view, domain) => {
    const { steps, links, into, out } = view;
    // In one direction only, a jump looks like messages that begin to wait.
    if (into.size === 0 || out.size === 0) return [];
    let clearest = { domain, cell: 0, jump: 0, peers: new Set([...into, ...out]).size };
    for (const { cell, step } of steps) {
      const jump = commonStep(steps, cell, Math.sign(step), links);
      if (Math.abs(jump) > Math.abs(clearest.jump)) clearest = { ...clearest, cell, jump };
    }
    return clearest.jump === 0 ? [] : [clearest];
  });
  const largest = found.reduce((most, { jump }) => Math.max(most, Math.abs(jump)), 0);
  const [first] = found
    .filter(({ jump }) => Math.abs(jump) >= largest / 2)
    .sort((a, b) => b.peers - a.peers || Math.abs(b.jump) - Math.abs(a.jump));
  if (!first) return null;
  const { domain, cell, jump } = first;
  const at = estimate.knots.first + cell * cellNs;
  return { what: 'clock-jump', domain, other: onlyPeer(views, domain), at, jump };
}

function viewsOf(domains: number, estimate: Estimate, cellNs: number): DomainView[] {
  const { knots } = estimate;
  const views = Array.from({ length: domains }, (): DomainView => ({
    steps: [],
    links: 0,
    into: new Set(),
    out: new Set(),
  }));
  estimate.links.forEach((link, index) => {
    const { kind, from, to } = link.edge;
    // Credits and collectives wait for programs: their minima step when a program changes.
    if (kind === 'credit' || kind === 'collective') return;
    const count = minimaOf(link);
    if (count < 2 * LEAST_BESIDE) return;
    const [sender, receiver] = [views[from]!, views[to]!];
    sender.links++;
    receiver.links++;
    sender.out.add(to);
    receiver.into.add(from);
    if (spreadOfResiduals(estimate, link, count) < SMALLEST_JUMP_NS / 2) return;
    for (const { at, step } of stepsOf(count)) {
      const cell = Math.round((at - knots.first) / cellNs);
      receiver.steps.push({ link: index, cell, step });
      sender.steps.push({ link: index, cell, step: -step });
    }
  });
  return views;
}

/** The domain's only peer, if it has no other peer itself; null: none. */
function onlyPeer(views: readonly DomainView[], domain: number): number | null {
  const peersOf = ({ into, out }: DomainView): number[] => [...new Set([...into, ...out])];
  const [peer, ...others] = peersOf(views[domain]!);
  return others.length === 0 && peersOf(views[peer!]!).length === 1 ? peer! : null;
}

/** Fills `TIMES` and `RESIDUALS` with the minima of a link, of which there are `count`. Returns how far residuals lie apart, ns. */
function spreadOfResiduals({ knots, corrections }: Estimate, { edge, lines }: Link, count: number): number {
  if (TIMES.length < count) {
    TIMES = new Float64Array(2 * count);
    RESIDUALS = new Float64Array(2 * count);
  }
  const [from, to] = [corrections[edge.from]!, corrections[edge.to]!];
  let at = 0;
  let least = Infinity;
  let most = -Infinity;
  for (const line of lines) {
    for (let i = 0; line !== null && i < line.minima.length; i += 2) {
      const left = slack(knots, from, to, line.minima[i]!, line.minima[i + 1]!);
      TIMES[at] = line.minima[i]!;
      RESIDUALS[at++] = left;
      if (left < least) least = left;
      if (left > most) most = left;
    }
  }
  return most - least;
}

/** The common step of all links of a host near a cell, in one direction; 0: none. */
function commonStep(steps: readonly SeenStep[], cell: number, sign: number, links: number): number {
  const byLink = new Map<number, number>();
  for (const { link, cell: at, step } of steps) {
    if (Math.abs(at - cell) > NEAR_CELLS || Math.sign(step) !== sign) continue;
    byLink.set(link, Math.max(byLink.get(link) ?? 0, Math.abs(step)));
  }
  return byLink.size < links ? 0 : sign * minOf(byLink.values());
}

/** Minima stand somewhere in their sub-windows, and a jump somewhere between them. */
const NEAR_CELLS = 2;
/** As fine as sub-windows are. */
const CELLS_PER_STRETCH = 8;
const cellOf = (links: readonly Link[]): number =>
  links.reduce((most, { stretchNs }) => Math.max(most, stretchNs), 1) / CELLS_PER_STRETCH;

/** Where the minima of both sides lie on two parallel lines, clearly apart: of the first of `TIMES` and `RESIDUALS`. */
function stepsOf(count: number) {
  const found: { at: number; step: number }[] = [];
  for (let i = LEAST_BESIDE; i + LEAST_BESIDE <= count; i++) {
    const from = Math.max(0, i - MOST_BESIDE);
    const end = Math.min(count, i + MOST_BESIDE);
    const slopes = addSlopes(from, i, 0);
    const slope = medianOf(SLOPES, addSlopes(i, end, slopes));
    for (let k = from; k < i; k++) BEFORE[k - from] = RESIDUALS[k]! - slope * (TIMES[k]! - TIMES[i]!);
    for (let k = i; k < end; k++) AFTER[k - i] = RESIDUALS[k]! - slope * (TIMES[k]! - TIMES[i]!);
    // Both are sorted by their medians.
    const step = medianOf(AFTER, end - i) - medianOf(BEFORE, i - from);
    const apart = step > 0 ? AFTER[0]! - BEFORE[i - from - 1]! : BEFORE[0]! - AFTER[end - i - 1]!;
    if (Math.abs(step) < SMALLEST_JUMP_NS || apart < CLEAR * Math.abs(step)) continue;
    found.push({ at: (TIMES[i - 1]! + TIMES[i]!) / 2, step });
  }
  return found;
}

/** The minima of one link, and what the estimate leaves of them: there are many links. */
let TIMES = new Float64Array(1024);
let RESIDUALS = new Float64Array(1024);
/** What is looked at for one step: there are many places, and few values at each. */
const BEFORE = new Float64Array(MOST_BESIDE);
const AFTER = new Float64Array(MOST_BESIDE);
const SLOPES = new Float64Array(MOST_BESIDE * (MOST_BESIDE - 1));

/** Slopes of all pairs of values in [from, end) go behind the `count` that are there; returns how many there are then. */
function addSlopes(from: number, end: number, count: number): number {
  for (let i = from; i < end; i++) {
    for (let k = i + 1; k < end; k++)
      SLOPES[count++] = (RESIDUALS[k]! - RESIDUALS[i]!) / (TIMES[k]! - TIMES[i]!);
  }
  return count;
}

/** Sorts the first values. */
function medianOf(values: Float64Array, count: number): number {
  for (let i = 1; i < count; i++) {
    const value = values[i]!;
    let at = i;
    for (; at > 0 && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
  return values[count >> 1]!;
}

/**
 * The link that the estimate contradicts most (one link counts little in it), and those contradicted by `asBadAs` of that, each by its
 * worst. If one host's links with several others are similarly bad, its clock is the cause.
 */
export function worstLinks(
  knots: Knots,
  corrections: readonly Float64Array[],
  hulls: readonly EdgeHull[],
  asBadAs: number,
): Culprit[] {
  const links = new Map<string, BadLink>();
  for (const hull of hulls) {
    const { by, at } = violationOf(knots, corrections, hull);
    const key = `${hull.from} ${hull.to}`;
    if (by > (links.get(key)?.by ?? 0)) links.set(key, { from: hull.from, to: hull.to, by, at });
  }
  const found = [...links.values()].sort((a, b) => b.by - a.by);
  const bad = found.filter(({ by }) => by >= ABOUT_AS_BAD * found[0]!.by);
  const host = inAll(bad);
  if (host !== null) return [{ what: 'clock-unsteady', domains: [host], at: found[0]!.at, by: found[0]!.by }];
  return found
    .filter(({ by }, i) => i === 0 || (asBadAs < 1 && by >= asBadAs * found[0]!.by))
    .map(({ from, to, by }) => ({ what: 'link', from, to, by }));
}

interface BadLink {
  readonly from: number;
  readonly to: number;
  readonly by: number;
  /** Of the sender's clock, when it shows most. */
  readonly at: number;
}

const ABOUT_AS_BAD = 0.5;

/** The host at one end of all links, with several at the other; null: none. */
function inAll(links: readonly BadLink[]): number | null {
  const { from, to } = links[0]!;
  const shared = [from, to].filter((host) => links.every((link) => link.from === host || link.to === host));
  const peers = new Set(links.flatMap((link) => [link.from, link.to]));
  return shared.length === 1 && peers.size > 2 ? shared[0]! : null;
}
