/**
 * A deadlock of sends and receives: each rank is in one whose other side the peer has called only later, so it waits behind the one that the
 * peer is in. For example two ranks that both receive first. Calls of one group run side by side, so their order does not matter.
 */

import { addTo } from '../base/grouped.js';
import { commOf } from './case.js';
import type { RankWitness } from './file_facts.js';
import { hasBegun, OTHER_SIDE } from './stall.js';
import type { InCircle, PlacedTransfer } from './types.js';
import { waitsForPeer, type FileWork } from './wait_chains.js';

/** The rank is in `first`, which waits for `later` of rank `to`. Ranks are numbers in the communicator. */
interface Link {
  readonly to: number;
  readonly first: FileWork;
  readonly later: FileWork;
}

/** Works of one communicator that stand still together. `circle` is empty: there is none, or the order of the calls is not known. */
export interface Tangle {
  readonly works: readonly FileWork[];
  readonly circle: readonly InCircle[];
}

/**
 * Each circle stands still by itself, so it has the works of its own ranks and of those that exchange data with them, directly or through
 * others; a rank between two circles is with the nearest. What is connected to none stays together.
 */
export function tanglesIn(works: readonly FileWork[], ranks: readonly RankWitness[]): Tangle[] {
  const rankOf = ({ file, work }: FileWork): number | null => commOf(ranks[file]!, work)?.rank ?? null;
  const byRank = new Map<number, FileWork[]>();
  for (const one of works) {
    const rank = rankOf(one);
    if (rank !== null && one.work.lostSince === 0) addTo(byRank, rank, one);
  }
  const circles = findCircles(new Map([...byRank.keys()].map((rank) => [rank, linksOf(rank, byRank)])));
  const told = circles.map((circle) => inCircle(circle, byRank));
  const [first = []] = told;
  if (told.length < 2) return [{ works, circle: first }];
  const placeOf = nearestCircle(circles, works, rankOf);
  const rest = works.filter((one) => placeOf(one) === null);
  return [
    ...told.map((circle, i) => ({ works: works.filter((one) => placeOf(one) === i), circle })),
    ...(rest.length > 0 ? [{ works: rest, circle: [] }] : []),
  ];
}

function inCircle(
  circle: readonly Link[],
  byRank: ReadonlyMap<number, readonly FileWork[]>,
): readonly InCircle[] {
  const transfer = ({ file, work: { func, peer, record, start } }: FileWork): PlacedTransfer => ({
    func,
    peerFile: byRank.get(peer!)![0]!.file,
    file,
    record,
    at: start,
  });
  return circle.map(({ first }, i) => ({
    file: first.file,
    first: transfer(first),
    later: transfer(circle.at(i - 1)!.later),
  }));
}

/** The place of the circle to which a work belongs; null: to none. */
function nearestCircle(
  circles: readonly (readonly Link[])[],
  works: readonly FileWork[],
  rankOf: (one: FileWork) => number | null,
): (one: FileWork) => number | null {
  const places = new Map(circles.flatMap((circle, i) => circle.map(({ to }) => [to, i] as const)));
  const peers = new Map<number, number[]>();
  for (const one of works) {
    const [rank, { peer }] = [rankOf(one), one.work];
    if (rank === null || peer === null) continue;
    addTo(peers, rank, peer);
    addTo(peers, peer, rank);
  }
  // What is added meanwhile is visited, too: the nearest ones first.
  for (const [rank, place] of places)
    for (const peer of peers.get(rank) ?? []) if (!places.has(peer)) places.set(peer, place);
  return (one) => places.get(rankOf(one) ?? NaN) ?? null;
}

function linksOf(rank: number, byRank: ReadonlyMap<number, readonly FileWork[]>): Link[] {
  return firstGroup(byRank.get(rank)!).flatMap((first): Link[] => {
    const { func, peer, ops } = first.work;
    const others = peer === null ? undefined : byRank.get(peer);
    if (peer === null || !others || !ops.some(waitsForPeer)) return [];
    // Of works between the same ranks the older ones end first, so the oldest one left is the other side.
    const later = others.find(({ work }) => work.func === OTHER_SIDE[func] && work.peer === rank);
    const isLater = later && later.work.group !== null && later.work.group !== others[0]!.work.group;
    return isLater && !hasBegun(later.work) && firstGroup(others).length > 0
      ? [{ to: peer, first, later }]
      : [];
  });
}

/** What the rank is in: its oldest works that were called together. */
function firstGroup(works: readonly FileWork[]): readonly FileWork[] {
  const group = works[0]?.work.group ?? null;
  return group === null ? [] : works.filter(({ work }) => work.group === group);
}

/** All that have no rank in common. Each link leads to the next one, and the last one to the first. Each rank is visited once. */
function findCircles(links: ReadonlyMap<number, readonly Link[]>): (readonly Link[])[] {
  const found: (readonly Link[])[] = [];
  const taken = new Set<number>();
  for (const start of links.keys()) {
    const circle = taken.has(start) ? null : wayBack(start, links, taken);
    if (!circle) continue;
    found.push(circle);
    for (const { to } of circle) taken.add(to);
  }
  return found;
}

/** The shortest way from a rank to itself that passes none of `taken`; null: there is none. */
function wayBack(
  start: number,
  links: ReadonlyMap<number, readonly Link[]>,
  taken: ReadonlySet<number>,
): readonly Link[] | null {
  /** By rank, how it was reached. */
  const reached = new Map<number, { readonly from: number; readonly link: Link }>();
  const visited = [start];
  for (const from of visited)
    for (const link of links.get(from)!) {
      if (taken.has(link.to) || reached.has(link.to)) continue;
      reached.set(link.to, { from, link });
      visited.push(link.to);
    }
  const way: Link[] = [];
  for (let at = reached.get(start); at; at = at.from === start ? undefined : reached.get(at.from))
    way.unshift(at.link);
  return way.length > 0 ? way : null;
}
