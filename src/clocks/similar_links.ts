/**
 * How similar the minimum delays of similar links are, measured around cycles of links, and which links differ from the others. A link that
 * differs is named. It loses weight by its unexplained part.
 */

import { maxOf } from '../base/extremes.js';
import { isWire, wireOf } from './evidence.js';
import {
  FLOOR_SIGMA_NS,
  ownSpread,
  relativeResidual,
  statedSigmas,
  type Alike,
  type DelayOf,
  type Link,
} from './links.js';

/** Domains that are solved together: `reference[d]` is the group's first domain. */
export type References = readonly number[];

/** A relative spread without a limit in ns. */
const byPart = (part: number): Alike => ({ part, atMost: Infinity });

/** A link differs from the others if it leaves more than this many standard errors unexplained. */
const UNLIKE = 3.5;

/** Larger residuals show a link unlike the others, as stated or as the others show. */
function unlikeBeyond(link: Link, delay: number, alike: number, shown: number | null): number {
  const beyond = (spread: number): number =>
    UNLIKE * Math.hypot(ownSpread(link, delay, byPart(spread)), link.spread, FLOOR_SIGMA_NS);
  const stated = beyond(alike);
  return shown === null || !isWire(link.edge) ? stated : Math.min(stated, beyond(shown));
}

/** Decides by residuals which links lose weight. */
export function judge(links: readonly Link[], references: References, delayOf: DelayOf, alike: number): void {
  const shown = shownAlike(links, references, delayOf, 'median');
  for (const link of links) {
    const left = Math.abs(link.residual) / unlikeBeyond(link, delayOf(link), alike, shown);
    link.excess = Math.max(1, left * left);
  }
}

/** Sets the links' weights from their delays and from `judge`. */
export function weigh(links: readonly Link[], delayOf: DelayOf, alike: number): void {
  statedSigmas(links, delayOf, byPart(alike)).forEach((sigma, i) => {
    links[i]!.sigma = sigma;
  });
}

/** Links whose minimum delays are unlike those of their likeness, worst first. */
export function unlikeLinks(
  links: readonly Link[],
  references: References,
  delayOf: DelayOf,
  alike: number,
): Link[] {
  const shown = shownAlike(links, references, delayOf, 'median');
  const score = (link: Link): number =>
    Math.abs(link.residual) / unlikeBeyond(link, delayOf(link), alike, shown);
  return links.filter((link) => isWire(link.edge) && score(link) > 1).sort((a, b) => score(b) - score(a));
}

/** Relative spreads of minimum delays. */
export interface AlikeFound {
  readonly stated: number;
  /** Null: nothing shows it. */
  readonly measured: number | null;
  /** The spread used for the 99 % bound of the shortest wire. Longer wires have a smaller one. */
  readonly used: number;
}

/** How equal links are assumed to be: as stated, unless cycles show more or less. */
export function findAlike(
  stated: number,
  links: readonly Link[],
  references: References,
  delayOf: DelayOf,
): { readonly alike: Alike; readonly found: AlikeFound } {
  const measured = measuredAlike(links, references, delayOf);
  const alike = usedAlike(stated, measured);
  const used = partOfShortest(alike, links, delayOf);
  return { alike, found: { stated, measured: measured?.spread ?? null, used } };
}

function usedAlike(stated: number, measured: MeasuredAlike | null): Alike {
  if (measured === null) return byPart(stated);
  const { spread, atMost, ofSumsOnly } = measured;
  return spread > stated ? byPart(spread) : { part: stated, atMost, ofSumsOnly };
}

function partOfShortest(alike: Alike, links: readonly Link[], delayOf: DelayOf): number {
  const parts = links.flatMap((link) => {
    const delay = delayOf(link);
    return isWire(link.edge) && delay > 0 ? [ownSpread(link, delay, alike) / delay] : [];
  });
  return parts.length === 0 ? alike.part : Math.min(alike.part, maxOf(parts));
}

/** The spread of minimum delays as far as cycles show it. */
interface MeasuredAlike {
  /** Relatively. */
  readonly spread: number;
  /**
   * ns: a safe limit, larger with few cycles. It is not relative, because cycles show ns. That is little of a long delay, but much of a
   * short one, and clocks rest on the short ones.
   */
  readonly atMost: number;
  /** No cycle shows how far the two directions of a wire differ. */
  readonly ofSumsOnly: boolean;
}

/** Null where there is nothing to compare. */
function measuredAlike(
  links: readonly Link[],
  references: References,
  delayOf: DelayOf,
): MeasuredAlike | null {
  const spread = shownAlike(links, references, delayOf, 'root mean square');
  if (spread === null) return null;
  const { wires, freedom } = wiresShown(links, references);
  const { sums, differences } = split(wires);
  // With one direction only, sums and differences cannot be separated.
  const ofDifferences = freedom - Math.max(0, sums.count - sums.likenesses);
  const ofSumsOnly = ofDifferences < LEAST_FREEDOM;
  const atMost = ofSumsOnly
    ? Math.sqrt((sums.squares + differences) / lowChiSquare(freedom))
    : Math.sqrt(differences / lowChiSquare(ofDifferences));
  return { spread, atMost, ofSumsOnly };
}

const LEAST_FREEDOM = 2;

/**
 * Squared residuals, ns²: of the sums of both directions between two hosts, and of the rest. Two directions show their sum for any clocks.
 * Their difference looks like an offset, unless a longer cycle contradicts it.
 */
function split(wires: readonly Link[]) {
  const back = new Map(wires.map((link) => [`${wireOf(link.edge).to} ${wireOf(link.edge).from}`, link]));
  const likenesses = new Set<string>();
  let [count, squares, differences] = [0, 0, 0];
  for (const link of wires) {
    const { from, to } = wireOf(link.edge);
    const other = back.get(`${from} ${to}`);
    if (!other) differences += link.residual ** 2;
    else if (from < to) {
      count++;
      squares += (link.residual + other.residual) ** 2 / 2;
      differences += (link.residual - other.residual) ** 2 / 2;
      likenesses.add(`${Math.min(link.like, other.like)} ${Math.max(link.like, other.like)}`);
    }
  }
  return { sums: { count, squares, likenesses: likenesses.size }, differences };
}

/** One value in forty lies below it (Wilson and Hilferty). */
function lowChiSquare(freedom: number): number {
  const part = 2 / (9 * freedom);
  return freedom * (1 - part - 1.96 * Math.sqrt(part)) ** 3;
}

/** 'median': half of the links are within it, as a standard error. A few different links do not move it. */
function shownAlike(
  links: readonly Link[],
  references: References,
  delayOf: DelayOf,
  by: 'median' | 'root mean square',
): number | null {
  const { wires, freedom } = wiresShown(links, references);
  if (freedom < Math.max(2, wires.length / 8)) return null;
  const squares = wires.map((link) => relativeResidual(link, delayOf(link)) ** 2).sort((a, b) => a - b);
  const mean =
    by === 'median'
      ? squares[squares.length >> 1]! * SQUARED_ERROR_PER_MEDIAN
      : squares.reduce((sum, square) => sum + square, 0) / squares.length;
  return Math.sqrt((mean * wires.length) / freedom);
}

/** The factor holds for a normal distribution. */
const SQUARED_ERROR_PER_MEDIAN = 1.4826 ** 2;

/** The best link of each wire, and how many there are beyond those needed to solve for the clocks and the delays. */
function wiresShown(links: readonly Link[], references: References) {
  const best = new Map<number, Link>();
  for (const link of links) {
    if (!isWire(link.edge)) continue;
    const known = best.get(link.wire);
    if (!known || link.sigma < known.sigma) best.set(link.wire, link);
  }
  const wires = [...best.values()];
  const likenesses = new Set(wires.map(({ like }) => like)).size;
  // A counter that jumped is two clocks, and the same wires show how far the two are apart.
  const domains = new Set(links.flatMap(({ edge }) => [wireOf(edge).from, wireOf(edge).to]));
  const groups = new Set(links.map(({ edge }) => references[edge.from]));
  return { wires, freedom: wires.length - (domains.size - groups.size) - likenesses };
}
