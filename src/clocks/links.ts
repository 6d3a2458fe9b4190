/** The facts about each edge and likeness that the estimate uses, and its weight. */

import { median } from '../base/median.js';
import { joined, knotTime, slack, type Knots } from './corrections.js';
import { compareLikes, isWire, wireOf, type EdgeEvidence } from './evidence.js';
import { supportLine, type SupportLine } from './support_line.js';

/** One edge and likeness, seen by the estimate. */
export interface Link {
  readonly edge: EdgeEvidence;
  readonly like: number;
  /** Per stretch; null where the edge had no pair. */
  readonly lines: readonly (SupportLine | null)[];
  readonly stretchNs: number;
  /** When the first stretch begins. */
  readonly first: number;
  /** Median over the stretches, ns. */
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
 * The least delays of about `slots` equal parts of an edge's time, by the `corrections` of the clocks: time, delay, time, delay, ... A part lasts
 * for a window or longer.
 */
export function leastDelays(
  { from, to, windows }: EdgeEvidence,
  knots: Knots,
  corrections: readonly Float64Array[],
  slots: number,
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
    for (let i = 0; i < hull.length; i += 2) {
      const left = slack(knots, corrections[from]!, corrections[to]!, hull[i]!, hull[i + 1]!);
      if (left >= least) continue;
      least = left;
      minima[minima.length - 2] = hull[i]!;
      minima[minima.length - 1] = hull[i + 1]!;
    }
  }
  return minima;
}

/** Time from its first to its last message, about, ns. */
export const heardFor = ({ windows, windowNs }: EdgeEvidence): number =>
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

/**
 * The stretches of an edge's lines. A line needs the support of many pairs, so a stretch lasts for a minute, or less if there are enough
 * pairs. A stretch begins and ends at a knot, so no window lies across two stretches.
 */
function stretchesOf({ pairs, windowNs }: EdgeEvidence, knots: Knots): Knots {
  const span = knots.step * (knots.count - 1);
  const wanted = Math.max((PAIRS_PER_LINE * span) / pairs, WINDOWS_PER_LINE * windowNs, SHORTEST_LINE_NS);
  return joined(knots, Math.min(LONGEST_LINE_NS, wanted));
}

/** Twice as many as all sub-windows of a line take at least. */
const PAIRS_PER_LINE = 128;
const WINDOWS_PER_LINE = 8;
const LONGEST_LINE_NS = 60e9;
const SHORTEST_LINE_NS = 10e9;

export interface Linked {
  readonly links: readonly Link[];
  /** Likenesses, by number. */
  readonly names: readonly string[];
  /** How many least delays they have. */
  readonly floors: number;
}

/** No window of an edge lies across two `knots`. */
export function linksOf(edges: readonly EdgeEvidence[], knots: Knots): Linked {
  const names = [...new Set(edges.map(({ like }) => like))].sort(compareLikes);
  const wires = new Numbers();
  const floors = new Numbers();
  const sizes = sizesByLike(edges);
  const links = edges.map((edge): Link => {
    const stretches = stretchesOf(edge, knots);
    const lines = Array.from({ length: stretches.count - 1 }, (_, stretch) =>
      supportLine(edge, knotTime(stretches, stretch), knotTime(stretches, stretch + 1)),
    );
    const wire = `${wireOf(edge).from} ${wireOf(edge).to}`;
    const spread = median(lines.flatMap((line) => (line ? [line.spread] : []))) ?? 0;
    return {
      edge,
      like: names.indexOf(edge.like),
      lines,
      stretchNs: stretches.step,
      first: stretches.first,
      spread,
      wire: wires.of(`${wire} ${isWire(edge)}`),
      floor: floors.of(`${wire} ${edge.like}`),
      sizeOff: sizeOffOf(edge, sizes.get(edge.like) ?? 0),
      sigma: FIRST_SIGMA_NS + spread,
      excess: 1,
      residual: 0,
      minima: lines.flatMap((line) => line?.minima ?? []),
    };
  });
  return { links, names, floors: floors.count };
}

/** Numbers texts in the order in which they come. */
class Numbers {
  private readonly known = new Map<string, number>();

  of(text: string): number {
    const number = this.known.get(text) ?? this.known.size;
    this.known.set(text, number);
    return number;
  }

  get count(): number {
    return this.known.size;
  }
}

/** Mean of the least sizes, by likeness, bytes. */
function sizesByLike(edges: readonly EdgeEvidence[]): Map<string, number> {
  const sizes = new Map<string, number[]>();
  for (const { like, leastBytes } of edges) {
    if (leastBytes === undefined) continue;
    const known = sizes.get(like);
    if (known) known.push(leastBytes);
    else sizes.set(like, [leastBytes]);
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
