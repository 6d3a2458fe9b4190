/**
 * Finds a GPU that is slow with its data. It consumes slowly if data that arrived at its rank waits long until the kernel takes it, and the
 * rank comes last in most collectives. The second condition excludes a rank that the machine delayed once. It also excludes the rank's
 * sender, whose GPU waits, too, because it cannot send on. A GPU produces slowly if the rank's sends wait long for it while the rank itself
 * waits for no data. No claim is made if there is a slow link or a starved proxy thread, because these have the same effects. A kernel that
 * only begins late is a late rank.
 */

import {
  longestOf,
  type CauseEvidence,
  type SlowGpu,
  type SlowLinks,
  type StarvedThread,
} from './cause_types.js';
import type { RankLabel } from './rank_labels.js';
import { medianOf } from '../base/quantile.js';

/** Fewer ranks or transfers do not show what is usual. */
const FEWEST_RANKS = 3;
const FEWEST_TRANSFERS = 64;
/** The fewest collectives with a known last rank, and the part of them in which this rank must be the last. */
const FEWEST_LATE = 6;
const MOSTLY = 0.5;
/** Its wait compared with the usual one, and its cost compared with the run. */
const LEAST_RATIO = 4;
const LEAST_SHARE = 0.05;
/** Up to this many transfers of a connection are under way at once. */
const IN_FLIGHT = 8;

interface Ends {
  transfers: number;
  /** Waits for its own GPU: until it took what had arrived, or filled what is to be sent. */
  gpuNs: number;
  connections: number;
}
interface RankTimes {
  readonly sent: Ends;
  readonly received: Ends;
  /** Its sends waited for room, its receives for data. */
  roomNs: number;
  dataNs: number;
}
type Times = ReadonlyMap<RankLabel, RankTimes>;

export function slowGpus(
  evidence: CauseEvidence,
  slowLinks: readonly SlowLinks[],
  starved: readonly StarvedThread[],
): SlowGpu[] {
  const { links, slow, rankOf } = evidence;
  if (starved.length > 0) return [];
  const late = slow !== null && slow.on !== 'link' ? rankOf(slow.file) : null;
  const slowComms = new Set(slowLinks.flatMap((one) => one.links.map((link) => links[link]!.commId)));
  return [...new Set(links.map(({ commId }) => commId))].flatMap((commId) => {
    if (slowComms.has(commId)) return [];
    const times = timesByRank(commId, evidence);
    times.delete(late);
    const found = [...consumers(times, commId, evidence), ...producers(times, commId, evidence)];
    return found.filter(({ rank }, i) => found.findIndex((one) => one.rank === rank) === i);
  });
}

function consumers(times: Times, commId: string, evidence: CauseEvidence): SlowGpu[] {
  const [, ...lateRanks] = evidence.collectives.flatMap((one) =>
    one.commId === commId && one.lateRank !== null ? [one.lateRank] : [],
  );
  const isLast = (rank: RankLabel): boolean =>
    lateRanks.length >= FEWEST_LATE &&
    lateRanks.filter((one) => one === rank).length >= MOSTLY * lateRanks.length;
  return outliers(
    'consumes',
    [...times].map(([rank, { received }]) => ({ rank, ...received })),
    ...([commId, evidence] as const),
  ).filter(({ rank }) => isLast(rank) && times.get(rank)!.roomNs <= times.get(rank)!.received.gpuNs);
}

/** A GPU that passes on received data waits for these data. This time does not count as its own production. */
const producers = (times: Times, commId: string, evidence: CauseEvidence): SlowGpu[] =>
  outliers(
    'produces',
    [...times].map(([rank, { sent, dataNs }]) => ({
      ...{ rank, ...sent },
      gpuNs: Math.max(0, sent.gpuNs - dataNs),
    })),
    ...([commId, evidence] as const),
  ).filter(({ rank }) => times.get(rank)!.dataNs <= times.get(rank)!.sent.gpuNs / LEAST_RATIO);

function outliers(
  side: SlowGpu['side'],
  all: readonly (Ends & { readonly rank: RankLabel })[],
  commId: string,
  { collectives, durationNs }: CauseEvidence,
): SlowGpu[] {
  const compared = all.filter(({ transfers }) => transfers >= FEWEST_TRANSFERS);
  if (compared.length < FEWEST_RANKS) return [];
  const usualNs = medianOf(compared.map(({ gpuNs, transfers }) => gpuNs / transfers));
  return compared.flatMap(({ rank, gpuNs, transfers, connections }): SlowGpu[] => {
    const waitNs = gpuNs / transfers;
    const costNs = (gpuNs - usualNs * transfers) / (IN_FLIGHT * connections);
    if (waitNs < LEAST_RATIO * usualNs || costNs < LEAST_SHARE * durationNs) return [];
    return [
      {
        cause: 'slow GPU',
        ...{ rank, side, transfers, like: compared.length - 1 },
        ...{ waitNs: Math.round(waitNs), usualNs: Math.round(usualNs), costNs: Math.round(costNs) },
        view: longestOf(collectives, commId),
      },
    ];
  });
}

function timesByRank(commId: string, { links, waits }: CauseEvidence): Map<RankLabel, RankTimes> {
  const times = new Map<RankLabel, RankTimes>();
  const none = (): Ends => ({ transfers: 0, gpuNs: 0, connections: 0 });
  const of = (rank: RankLabel): RankTimes => {
    const known = times.get(rank) ?? { sent: none(), received: none(), roomNs: 0, dataNs: 0 };
    times.set(rank, known);
    return known;
  };
  const add = (ends: Ends, transfers: number, gpuNs: number): void => {
    ends.transfers += transfers;
    ends.gpuNs += gpuNs;
    ends.connections++;
  };
  for (const link of links) {
    if (link.commId !== commId) continue;
    of(link.source).roomNs += link.senderRoomNs;
    add(of(link.source).sent, link.transfers, link.senderGpuNs);
    if (link.receiverGpuNs !== null) add(of(link.destination).received, link.transfers, link.receiverGpuNs);
  }
  for (const { rank, commId: own, waitsFor, totalNs } of waits)
    if (own === commId && waitsFor === 'data') of(rank).dataNs += totalNs;
  return times;
}
