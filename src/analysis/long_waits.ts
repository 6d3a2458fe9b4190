/**
 * Finds a proxy thread without CPU time, and a GPU that fills slowly what it sends: of the ranks that are compared, one waits much longer for it
 * with each transfer.
 */

import { durationText } from '../base/duration.js';
import { costing, longestOf, type CauseEvidence } from './cause_evidence.js';
import type { SlowLinks } from './slow_link_causes.js';
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
/** ns: the flush itself, a read over PCIe, may take this long. */
const LEAST_FLUSH = 100_000;

interface Waited {
  readonly rank: RankLabel;
  readonly totalNs: number;
  readonly transfers: number;
  readonly connections: number;
}

/** `commId` null: over all communicators. */
function outliers(all: readonly Waited[], commId: string | null, { collectives, durationNs }: CauseEvidence) {
  const compared = all.filter(({ transfers }) => transfers >= FEWEST_TRANSFERS);
  if (compared.length < FEWEST_RANKS) return [];
  const usualNs = medianOf(compared.map(({ totalNs, transfers }) => totalNs / transfers));
  return compared.flatMap(({ rank, totalNs, transfers, connections }) => {
    const waitNs = totalNs / transfers;
    const costNs = (totalNs - usualNs * transfers) / (IN_FLIGHT * connections);
    if (waitNs < LEAST_RATIO * usualNs || costNs < LEAST_SHARE * durationNs) return [];
    return [
      {
        ...{ rank, transfers, like: compared.length - 1, view: longestOf(collectives, commId) },
        ...{ waitNs: Math.round(waitNs), usualNs: Math.round(usualNs), costNs: Math.round(costNs) },
      },
    ];
  });
}

/**
 * Data that arrived wait until the thread looks at the transfer again (flush wait). Neither the wire nor the GPU is part of that wait. The rank's
 * sends end late, too, and look like sends over a slow wire. The thread is named only if the waits are long most of the time, because the
 * machine may delay any thread once.
 */
export function starvedThreads(evidence: CauseEvidence) {
  const { rankWaits, rankOf, links } = evidence;
  const compared = rankWaits.flatMap(({ all, overTime }, file) => {
    const own = links.filter(({ destination }) => destination === rankOf(file));
    const transfers = own.reduce((sum, link) => sum + link.transfers, 0);
    const usually = medianOf(overTime.flush);
    return transfers < FEWEST_TRANSFERS
      ? []
      : [{ rank: rankOf(file), totalNs: all.flush, usually, transfers, connections: own.length }];
  });
  const usually = medianOf(compared.map((one) => one.usually));
  const isMostly = (rank: RankLabel): boolean =>
    compared.some((one) => one.rank === rank && one.usually >= LEAST_RATIO * usually);
  return outliers(compared, null, evidence)
    .filter(({ rank, waitNs }) => waitNs >= LEAST_FLUSH && isMostly(rank))
    .map((one) => ({
      ...{ cause: 'starved proxy thread' as const, ...one },
      says:
        `The proxy thread of rank ${one.rank} gets too little CPU time: what arrived ${waitText(one, 'the thread looks again')}` +
        costing(one.costNs),
    }));
}

type LongWait = ReturnType<typeof outliers>[number];

const waitText = ({ waitNs, usualNs, transfers, like }: LongWait, until: string): string =>
  `waits ${durationText(waitNs)} until ${until}, ${durationText(usualNs)} on ${like} other ranks (${transfers} transfers)`;

interface RankTimes {
  transfers: number;
  connections: number;
  /** Waits for its own GPU, until it filled what is to be sent. */
  gpuNs: number;
  /** Its receives waited for data. */
  dataNs: number;
}

/**
 * The rank's sends wait long for its GPU while the rank itself waits for no data: a GPU that passes on received data waits for these, which does
 * not count as its own production. No claim is made if there is a slow link or a starved proxy thread, because these have the same effects. A
 * kernel that only begins late is a late rank, and a GPU that takes data late is the verdict's.
 */
export function slowGpus(
  evidence: CauseEvidence,
  slowLinks: readonly SlowLinks[],
  starved: ReturnType<typeof starvedThreads>,
) {
  const { links, late } = evidence;
  if (starved.length > 0) return [];
  const slowComms = new Set(slowLinks.flatMap((one) => one.links.map((link) => links[link]!.commId)));
  return [...new Set(links.map(({ commId }) => commId))].flatMap((commId) => {
    if (slowComms.has(commId)) return [];
    const times = timesByRank(commId, evidence);
    times.delete(late);
    const waited = [...times].map(([rank, { gpuNs, dataNs, ...sent }]) => ({
      ...{ rank, ...sent, totalNs: Math.max(0, gpuNs - dataNs) },
    }));
    return outliers(waited, commId, evidence)
      .filter(({ rank }) => times.get(rank)!.dataNs <= times.get(rank)!.gpuNs / LEAST_RATIO)
      .map((one) => ({
        ...{ cause: 'slow GPU' as const, ...one },
        says:
          `The GPU of rank ${one.rank} is slow: it waits for no data, and what it sends ${waitText(one, 'it is filled in')}` +
          `${costing(one.costNs)}. Whether its kernels are slow or begin late is not known`,
      }));
  });
}

function timesByRank(commId: string, { links, waits }: CauseEvidence): Map<RankLabel, RankTimes> {
  const times = new Map<RankLabel, RankTimes>();
  const of = (rank: RankLabel): RankTimes => {
    const known = times.get(rank) ?? { transfers: 0, connections: 0, gpuNs: 0, dataNs: 0 };
    times.set(rank, known);
    return known;
  };
  for (const link of links) {
    if (link.commId !== commId) continue;
    const sent = of(link.source);
    sent.transfers += link.transfers;
    sent.gpuNs += link.senderGpuNs;
    sent.connections++;
  }
  for (const { rank, commId: own, waitsFor, totalNs } of waits)
    if (own === commId && waitsFor === 'data') of(rank).dataNs += totalNs;
  return times;
}
