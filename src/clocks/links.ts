/** The facts about each edge and likeness that the estimate uses, and its weight. */

import { addTo } from '../base/grouped.js';
import { Names } from '../base/columns.js';
import { median } from '../base/median.js';
import { slack, type Knots } from './corrections.js';
import { compareLikes, isWire, wireOf, type EdgeEvidence } from './evidence.js';
import { HullBuilder, lowestIndex } from './lower_hull.js';

/** One edge and likeness, seen by the estimate. */
export interface Link {
  readonly edge: EdgeEvidence;
  readonly like: number;
  /** How fast its delays grow, by all its pairs: how fast its clocks run apart. Dimensionless. */
  readonly slope: number;
  /** How far its minima lie from each other, ns: half of them nearer, half farther. */
  readonly spread: number;
  /** Number of its wire. All likenesses of any kind between the same two domains are on one wire, and share the wire's own error. */
  readonly wire: number;
  /** Number of its least delay: links of one wire and likeness have the same. */
  readonly floor: number;
  /** How much larger or smaller its messages are than those of its like, as a fraction. */
  readonly sizeOff: number;
  /** Standard error that its minimum delay is taken to have, ns. */
  sigma: number;
  /** At least 1: the factor by which `sigma` grew because the link differs from the others. */
  excess: number;
  /** How much longer its minimum delay is than its like, ns. */
  residual: number;
  /** The least delays of slots of time: time, delay, time, delay, ... */
  minima: readonly number[];
}

/**
 * The least delays of about `slots` equal parts of an edge's time: time, delay, time, delay, ... A part lasts for a window or longer.
 * `lowest`: the index of the least delay of a window's hull, and its height above the line or the clocks that it is measured by.
 */
function leastOf(
  { windows }: EdgeEvidence,
  slots: number,
  lowest: (hull: readonly number[]) => { readonly at: number; readonly height: number },
): number[] {
  const first = windows[0]!.index;
  const perSlot = Math.max(1, (windows.at(-1)!.index + 1 - first) / slots);
  const minima: number[] = [];
  let current = NaN;
  let least = Infinity;
  for (const { index, hull } of windows) {
    const slot = Math.floor((index - first) / perSlot);
    if (slot !== current) {
      current = slot;
      least = Infinity;
      minima.push(0, 0);
    }
    const { at, height } = lowest(hull);
    if (height >= least) continue;
    least = height;
    minima[minima.length - 2] = hull[at]!;
    minima[minima.length - 1] = hull[at + 1]!;
  }
  return minima;
}

/** By the `corrections` of the clocks. */
export const leastDelays = (
  edge: EdgeEvidence,
  knots: Knots,
  corrections: readonly Float64Array[],
  slots: number,
): number[] =>
  leastOf(edge, slots, (hull) => {
    let [at, height] = [-1, Infinity];
    for (let i = 0; i < hull.length; i += 2) {
      const left = slack(knots, corrections[edge.from]!, corrections[edge.to]!, hull[i]!, hull[i + 1]!);
      if (left < height) [at, height] = [i, left];
    }
    return { at, height };
  });

/** When no clock is known: above a line. */
const leastAbove = (edge: EdgeEvidence, slope: number, slots: number): number[] =>
  leastOf(edge, slots, (hull) => {
    const at = lowestIndex(hull, slope);
    return { at, height: hull[at + 1]! - slope * hull[at]! };
  });

/** How many minima an edge has: one for each few seconds, in which even the fastest change of a rate moves a clock by some tens of ns. */
export const slotsOf = (edge: EdgeEvidence): number => LEAST_SLOTS + heardFor(edge) / SLOT_NS;

const SLOT_NS = 2.5e9;
/** Number of minima of a link with messages for a short time only. */
const LEAST_SLOTS = 8;

/** How far minima lie from the middle of their neighbours, ns, as the median. A jump or a change of rate spoils few of them. */
function spreadOf(minima: readonly number[]): number {
  const apart: number[] = [];
  for (let i = 2; i + 3 < minima.length; i += 2) {
    const share = (minima[i]! - minima[i - 2]!) / (minima[i + 2]! - minima[i - 2]!);
    const chord = minima[i - 1]! + share * (minima[i + 3]! - minima[i - 1]!);
    apart.push(Math.abs(minima[i + 1]! - chord));
  }
  return median(apart) ?? UNSEEN_SPREAD_NS;
}

/** How far minima differ where there are too few to see, ns. */
const UNSEEN_SPREAD_NS = 5000;
/** No two counters run at rates farther apart, even against their nominal ones. */
const MAX_RATE_DIFFERENCE = 1e-3;

function slopeOf({ windows }: EdgeEvidence): number {
  HULL.clear();
  for (const { hull } of windows) HULL.append(hull);
  const slope = HULL.middleSlope();
  return Math.abs(slope) <= MAX_RATE_DIFFERENCE ? slope : 0;
}

const HULL = new HullBuilder();

/** Time from its first to its last message, about, ns. */
const heardFor = ({ windows, windowNs }: EdgeEvidence): number =>
  (windows.at(-1)!.index + 1 - windows[0]!.index) * windowNs;

/** The minimum delay of a link's likeness, ns. */
export type DelayOf = (link: Link) => number;

/** The first guess, when no delay is known. */
export const FIRST_SIGMA_NS = 20_000;
/** Minimum delays are never equal to less than this, ns, because programs take the stamps. */
export const FLOOR_SIGMA_NS = 300;
/** ns: no message between hosts is faster. A smaller remaining delay is an error of the clocks. */
const SHORTEST_DELAY_NS = 1000;
/** Collectives and credits without a waiting sender depend on programs, so their delays are similar only roughly. */
const LOOSE_ALIKE = 1;

export interface Linked {
  readonly links: readonly Link[];
  /** Likenesses, by number. */
  readonly names: readonly string[];
  /** How many least delays they have. */
  readonly floors: number;
}

export function linksOf(edges: readonly EdgeEvidence[]): Linked {
  const names = [...new Set(edges.map(({ like }) => like))].sort(compareLikes);
  const wires = new Names();
  const floors = new Names();
  const sizes = sizesByLike(edges);
  const links = edges.map((edge): Link => {
    const slope = slopeOf(edge);
    const minima = leastAbove(edge, slope, slotsOf(edge));
    const spread = spreadOf(minima);
    const wire = `${wireOf(edge).from} ${wireOf(edge).to}`;
    return {
      edge,
      like: names.indexOf(edge.like),
      slope,
      spread,
      wire: wires.number(`${wire} ${isWire(edge)}`),
      floor: floors.number(`${wire} ${edge.like}`),
      sizeOff: sizeOffOf(edge, sizes.get(edge.like) ?? 0),
      sigma: FIRST_SIGMA_NS + spread,
      excess: 1,
      residual: 0,
      minima,
    };
  });
  return { links, names, floors: floors.all().length };
}

/** Mean of the least sizes, by likeness, bytes. */
function sizesByLike(edges: readonly EdgeEvidence[]): Map<string, number> {
  const sizes = new Map<string, number[]>();
  for (const { like, leastBytes } of edges) {
    if (leastBytes !== undefined) addTo(sizes, like, leastBytes);
  }
  return new Map(
    [...sizes].map(([like, all]) => [like, all.reduce((sum, size) => sum + size, 0) / all.length]),
  );
}

const sizeOffOf = ({ leastBytes = 0 }: EdgeEvidence, mean: number): number =>
  mean === 0 ? 0 : Math.abs(leastBytes - mean) / mean;

/** How far minimum delays of like wires differ, as a standard error: by a part of themselves, and by no more than `atMost` ns. */
export interface Alike {
  readonly part: number;
  readonly atMost: number;
  /** The spread was found for sums of two directions. For a single direction it holds only as far as it would by chance. */
  readonly ofSumsOnly?: boolean;
}

/** How much minimum delays of this kind differ, ns. */
export function ownSpread({ edge }: Link, delay: number, { part, atMost, ofSumsOnly }: Alike): number {
  const whole = Math.max(SHORTEST_DELAY_NS, delay);
  if (!isWire(edge)) return Math.max(part, LOOSE_ALIKE) * whole;
  const stated = part * whole;
  const found = Math.min(stated, atMost);
  // Half way between the found and the stated spread: one direction may be longer by as much as the other is shorter.
  return ofSumsOnly ? Math.sqrt(Math.max(found, LEAST_OF_SUMS * stated) * stated) : found;
}

/** If sums differ by less than this part of the stated spread, they show nothing more about their two directions. */
const LEAST_OF_SUMS = 1 / 8;

/** The residual of a link's delay, as a fraction. */
export const relativeResidual = (link: Link, delay: number): number =>
  link.residual / Math.max(SHORTEST_DELAY_NS, delay);

/**
 * Standard errors of minimum delays. They follow from how similar links are stated to be, from a link's scatter (a part `noise` of its
 * spread), and from whether the link differs. A wire that differs from others does so in all its likenesses. So its likenesses together
 * show no more than the best of them.
 */
export function statedSigmas(
  links: readonly Link[],
  delayOf: DelayOf,
  alike: Alike,
  noise: (link: Link) => number = () => 1,
): Float64Array {
  // The cost of a difference in size is not known. It is computed as if the whole delay were transfer.
  const own = Float64Array.from(links, (link) => {
    const delay = delayOf(link);
    return Math.hypot(ownSpread(link, delay, alike), link.sizeOff * Math.max(0, delay));
  });
  const least = new Float64Array(links.length).fill(Infinity);
  const weight = new Float64Array(links.length);
  links.forEach(({ wire }, i) => {
    least[wire] = Math.min(least[wire]!, own[i]!);
    weight[wire]! += own[i]! ** -2;
  });
  return Float64Array.from(links, (link, i) => {
    const shared = least[link.wire]! * Math.sqrt(weight[link.wire]!);
    return link.excess * Math.hypot(own[i]! * shared, noise(link) * link.spread, FLOOR_SIGMA_NS);
  });
}
