/**
 * A GPU that is slow over its work: what arrives at its rank waits long until the kernel takes it, and the rank is the last in most collectives. The
 * second tells it from a rank that the machine held up once, and from its sender, whose GPU waits as well because it cannot send on. No claim is made
 * beside a slow link, which has the same effect, nor of a rank that waits longer for room. A kernel that merely begins late is a
 * late rank. That a GPU produces slowly cannot be told in a ring: it sends what it has received, and then the wait for it is a wait for its neighbour.
 */

import { around, type CauseEvidence, type SlowGpu, type SlowLinks } from './cause_types.js';
import type { RankLabel } from './rank_labels.js';
import { medianOf } from './statistics.js';

/** Fewer ranks or transfers do not show what is usual. */
const FEWEST_RANKS = 3;
const FEWEST_TRANSFERS = 64;
/** Collectives with a known last rank, and in how many of them it is the one. */
const FEWEST_LATE = 6;
const MOSTLY = 0.75;
/** Its wait against the usual one, and its cost against the run. */
const LEAST_RATIO = 4;
const LEAST_SHARE = 0.05;
/** Up to so many transfers of a connection are under way at once. */
const IN_FLIGHT = 8;

interface RankTimes {
  transfers: number;
  gpuNs: number;
  roomNs: number;
  readonly connections: Set<unknown>;
}

export function slowGpus(
  { links, slow, rankOf, collectives, durationNs }: CauseEvidence,
  slowLinks: readonly SlowLinks[],
): SlowGpu[] {
  const late = slow !== null && slow.on !== 'link' ? rankOf(slow.file) : null;
  const slowComms = new Set(slowLinks.flatMap((one) => one.links.map((link) => links[link]!.commId)));
  return [...new Set(links.map(({ commId }) => commId))].flatMap((commId) => {
    if (slowComms.has(commId)) return [];
    const own = links.filter((link) => link.commId === commId);
    const [, ...lateRanks] = collectives.flatMap((one) =>
      one.commId === commId && one.lateRank !== null ? [one.lateRank] : [],
    );
    const times = timesByRank(own);
    const compared = [...times].filter(([, { transfers }]) => transfers >= FEWEST_TRANSFERS);
    if (compared.length < FEWEST_RANKS) return [];
    const usualNs = medianOf(compared.map(([, { gpuNs, transfers }]) => gpuNs / transfers));
    return compared.flatMap(([rank, { gpuNs, roomNs, transfers, connections }]): SlowGpu[] => {
      const waitNs = gpuNs / transfers;
      const costNs = (gpuNs - usualNs * transfers) / (IN_FLIGHT * connections.size);
      const lastIn = lateRanks.filter((one) => one === rank).length;
      const isLast = lateRanks.length >= FEWEST_LATE && lastIn >= MOSTLY * lateRanks.length;
      const isVictim = !isLast || roomNs > gpuNs || rank === late;
      if (isVictim || waitNs < LEAST_RATIO * usualNs || costNs < LEAST_SHARE * durationNs) return [];
      const longest = collectives
        .filter((one) => one.commId === commId && one.durationNs !== null)
        .reduce((a, b) => (b.durationNs! > (a?.durationNs ?? 0) ? b : a), collectives[0]);
      return [
        {
          cause: 'slow GPU',
          ...{ rank, transfers, like: compared.length - 1 },
          ...{ waitNs: Math.round(waitNs), usualNs: Math.round(usualNs), costNs: Math.round(costNs) },
          view: longest ? around(longest.startNs, longest.durationNs ?? 0) : [0, 0],
        },
      ];
    });
  });
}

function timesByRank(links: CauseEvidence['links']): Map<RankLabel, RankTimes> {
  const times = new Map<RankLabel, RankTimes>();
  const of = (rank: RankLabel): RankTimes => {
    const known = times.get(rank) ?? { transfers: 0, gpuNs: 0, roomNs: 0, connections: new Set() };
    times.set(rank, known);
    return known;
  };
  for (const link of links) {
    of(link.source).roomNs += link.senderRoomNs;
    if (link.receiverGpuNs === null) continue;
    const receiver = of(link.destination);
    receiver.transfers += link.transfers;
    receiver.gpuNs += link.receiverGpuNs;
    receiver.connections.add(link);
  }
  return times;
}
