/**
 * Decides which link or host is named if the evidence contradicts itself. A link with wrong pairs, or with stamps of another meaning, is
 * named alone.
 */

import type { Knots } from './corrections.js';
import type { EdgeHull } from './edge_hulls.js';
import { violationOf } from './projection.js';

export type Culprit =
  /**
   * The host's clock jumped at about this time of its own, by `ns` against the others. `other`: the jump may be that host's instead, in the
   * other direction, because the two have only each other as peers. `isSplit`: the times before and after the jump are aligned
   * nevertheless.
   */
  | {
      readonly what: 'clock-jump';
      readonly domain: number;
      readonly other: number | null;
      readonly at: number;
      readonly jump: number;
      readonly isSplit: boolean;
    }
  | Contradiction;

/** Pairs that are impossible if no clock jumped. */
export type Contradiction =
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

/**
 * The link that the estimate contradicts most; one link counts little in the estimate. Also the links that it contradicts by at least
 * `asBadAs` of this. Each link counts by its worst pair. If one host's links with several others are similarly bad, its clock is the cause.
 */
export function worstLinks(
  knots: Knots,
  corrections: readonly Float64Array[],
  hulls: readonly EdgeHull[],
  asBadAs: number,
): Contradiction[] {
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
  /** When it shows most, on the sender's clock. */
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
