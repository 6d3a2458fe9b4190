/**
 * A deadlock of sends and receives: each rank is in one whose other side the peer has called only later, so it waits behind the one that the
 * peer is in. For example two ranks that both receive first. Calls of one group run side by side, so their order does not matter.
 */

import { addTo } from '../base/grouped.js';
import { commOf } from './case.js';
import { hasBegun } from './crossed_order.js';
import type { RankWitness } from './file_facts.js';
import type { Stall } from './stall.js';
import { OTHER_SIDE } from './stalled_transfers.js';
import type { InCircle, PlacedTransfer } from './types.js';
import { waitsForPeer, type FileWork } from './wait_chains.js';

/** The rank is in `first`, which waits for `later` of rank `to`. Ranks are numbers in the communicator. */
interface Link {
  readonly to: number;
  readonly first: FileWork;
  readonly later: FileWork;
}

/** Empty: there is none, or the order of the calls is not known. */
export function circleIn({ works, collective, commId }: Stall, ranks: readonly RankWitness[]): InCircle[] {
  if (collective || commId === null) return [];
  const byRank = new Map<number, FileWork[]>();
  for (const one of works) {
    const comm = commOf(ranks[one.file]!, one.work);
    if (comm && one.work.lostSince === 0) addTo(byRank, comm.rank, one);
  }
  const links = new Map([...byRank.keys()].map((rank) => [rank, linksOf(rank, byRank)]));
  const circle = findCircle(links);
  const before = (i: number): Link => circle.at(i - 1)!;
  const fileOf = (rank: number): number => byRank.get(rank)![0]!.file;
  const transfer = ({ file, work: { func, peer, record, start } }: FileWork): PlacedTransfer => ({
    func,
    peerFile: fileOf(peer!),
    file,
    record,
    at: start,
  });
  return circle.map(({ first }, i) => ({
    file: first.file,
    first: transfer(first),
    later: transfer(before(i).later),
  }));
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

/** Each link leads to the next one, and the last one to the first. Each rank is visited once. */
function findCircle(links: ReadonlyMap<number, readonly Link[]>): readonly Link[] {
  const visited = new Set<number>();
  for (const start of links.keys()) {
    if (visited.has(start)) continue;
    visited.add(start);
    const path = [{ rank: start, next: 0 }];
    while (path.length > 0) {
      const at = path.at(-1)!;
      const link = links.get(at.rank)![at.next++];
      if (!link) {
        path.pop();
        continue;
      }
      const known = path.findIndex(({ rank }) => rank === link.to);
      if (known >= 0) return path.slice(known).map(({ rank, next }) => links.get(rank)![next - 1]!);
      if (visited.has(link.to)) continue;
      visited.add(link.to);
      path.push({ rank: link.to, next: 0 });
    }
  }
  return [];
}
