/**
 * Finds a proxy thread without CPU time: data that arrived at its rank waits long until the thread looks at the transfer again (flush
 * wait). Each transfer has such a wait, and neither the wire nor the GPU is part of it. The rank's sends end late, too, and look like sends
 * over a slow wire. The thread is named only if the waits are long most of the time, because the machine may delay any thread once.
 */

import { longestOf, type CauseEvidence, type StarvedThread } from './cause_types.js';
import { medianOf } from '../base/quantile.js';

/** Fewer ranks or transfers do not show what is usual. */
const FEWEST_RANKS = 3;
const FEWEST_TRANSFERS = 64;
const LEAST_RATIO = 4;
/** ns: the flush itself, a read over PCIe, may take this long. */
const LEAST_WAIT = 100_000;
const LEAST_SHARE = 0.05;
/** Most transfers of a connection that are under way at once. */
const IN_FLIGHT = 8;

export function starvedThreads(evidence: CauseEvidence): StarvedThread[] {
  const { rankWaits, rankOf, links, collectives, durationNs } = evidence;
  const compared = rankWaits.flatMap(({ all, overTime }, file) => {
    const own = links.filter(({ destination }) => destination === rankOf(file));
    const transfers = own.reduce((sum, link) => sum + link.transfers, 0);
    if (transfers < FEWEST_TRANSFERS) return [];
    const usually = medianOf(overTime.flush);
    return [{ rank: rankOf(file), total: all.flush, usually, transfers, connections: own.length }];
  });
  if (compared.length < FEWEST_RANKS) return [];
  const usually = medianOf(compared.map((one) => one.usually));
  const usualNs = medianOf(compared.map(({ total, transfers }) => total / transfers));
  return compared.flatMap(({ rank, total, transfers, connections, ...own }): StarvedThread[] => {
    const waitNs = total / transfers;
    const costNs = (total - usualNs * transfers) / (IN_FLIGHT * connections);
    const isLong = own.usually >= LEAST_RATIO * usually && waitNs >= LEAST_RATIO * usualNs;
    if (!isLong || waitNs < LEAST_WAIT || costNs < LEAST_SHARE * durationNs) return [];
    return [
      {
        cause: 'starved proxy thread',
        ...{ rank, transfers, like: compared.length - 1 },
        ...{ waitNs: Math.round(waitNs), usualNs: Math.round(usualNs), costNs: Math.round(costNs) },
        view: longestOf(collectives, null),
      },
    ];
  });
}
