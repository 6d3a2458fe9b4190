/** Finds a GPU that fills slowly what it sends: of the ranks of a communicator, its transfers wait much longer for it. */

import { LEAST_RATIO, outliers } from '../cluster/long_waits.js';
import type { RankLabel } from '../runs/rank_labels.js';
import { accused, causeOf, longestOf, slowCommsOf, type CauseEvidence } from './cause_evidence.js';

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
export function slowGpus(evidence: CauseEvidence) {
  const { links, late, faults, durationNs, collectives, filesOf } = evidence;
  if (faults.some(({ wait }) => wait !== null)) return [];
  const slowComms = slowCommsOf(faults);
  return [...new Set(links.map(({ commId }) => commId))].flatMap((commId) => {
    if (slowComms.has(commId)) return [];
    const times = timesByRank(commId, evidence);
    times.delete(late);
    const waited = [...times].map(([rank, { gpuNs, dataNs, ...sent }]) => ({
      ...{ rank, isOwn: dataNs <= gpuNs / LEAST_RATIO, ...sent, totalNs: Math.max(0, gpuNs - dataNs) },
    }));
    return outliers(waited, durationNs).flatMap(({ index, costNs, ...wait }) => {
      const { rank, isOwn } = waited[index]!;
      const about = { rank, ...wait, view: longestOf(collectives, commId) };
      const parts = { cost: costNs, who: accused(filesOf(rank), 'SLOW GPU') };
      return isOwn ? [causeOf('slow GPU', about, parts)] : [];
    });
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
