/**
 * Finds a GPU that fills slowly what it sends: the rank's sends wait long for it while the rank itself waits for no data. No claim is made if
 * there is a slow link or a starved proxy thread, because these have the same effects. A kernel that only begins late is a late rank. A GPU
 * that takes data late is the verdict's.
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
/** Its wait compared with the usual one, and its cost compared with the run. */
const LEAST_RATIO = 4;
const LEAST_SHARE = 0.05;
/** Up to this many transfers of a connection are under way at once. */
const IN_FLIGHT = 8;

interface Ends {
  transfers: number;
  /** Waits for its own GPU, until it filled what is to be sent. */
  gpuNs: number;
  connections: number;
}
interface RankTimes {
  readonly sent: Ends;
  /** Its receives waited for data. */
  dataNs: number;
}
type Times = ReadonlyMap<RankLabel, RankTimes>;

export function slowGpus(
  evidence: CauseEvidence,
  slowLinks: readonly SlowLinks[],
  starved: readonly StarvedThread[],
): SlowGpu[] {
  const { links, late } = evidence;
  if (starved.length > 0) return [];
  const slowComms = new Set(slowLinks.flatMap((one) => one.links.map((link) => links[link]!.commId)));
  return [...new Set(links.map(({ commId }) => commId))].flatMap((commId) => {
    if (slowComms.has(commId)) return [];
    const times = timesByRank(commId, evidence);
    times.delete(late);
    return producers(times, commId, evidence);
  });
}

/** A GPU that passes on received data waits for these data. This time does not count as its own production. */
const producers = (times: Times, commId: string, evidence: CauseEvidence): SlowGpu[] =>
  outliers(
    [...times].map(([rank, { sent, dataNs }]) => ({
      ...{ rank, ...sent },
      gpuNs: Math.max(0, sent.gpuNs - dataNs),
    })),
    ...([commId, evidence] as const),
  ).filter(({ rank }) => times.get(rank)!.dataNs <= times.get(rank)!.sent.gpuNs / LEAST_RATIO);

function outliers(
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
        ...{ rank, transfers, like: compared.length - 1 },
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
    const known = times.get(rank) ?? { sent: none(), dataNs: 0 };
    times.set(rank, known);
    return known;
  };
  for (const link of links) {
    if (link.commId !== commId) continue;
    const { sent } = of(link.source);
    sent.transfers += link.transfers;
    sent.gpuNs += link.senderGpuNs;
    sent.connections++;
  }
  for (const { rank, commId: own, waitsFor, totalNs } of waits)
    if (own === commId && waitsFor === 'data') of(rank).dataNs += totalNs;
  return times;
}
