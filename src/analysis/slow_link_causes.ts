/** What makes the links of a run slow (cluster/link_faults.ts), as causes. */

import { accused, causeOf, longestOf, type CauseEvidence } from './cause_evidence.js';

/** Share of the run. A link that costs less is in the table of slow links, but is no cause. Costs are lower bounds. */
const LEAST_SHARE = 0.01;

/** Proxy threads without CPU time. */
export const starvedThreads = ({ faults, collectives }: CauseEvidence) =>
  faults.flatMap(({ what, file, rank, wait }) => {
    if (what !== 'starved proxy thread' || wait === null) return [];
    const { waitNs, usualNs, transfers, like, costNs } = wait;
    const view = longestOf(collectives, null);
    return [
      causeOf(
        what,
        { rank, waitNs, usualNs, transfers, like, view },
        { cost: costNs, who: accused([file], 'STARVED') },
      ),
    ];
  });

export const slowLinkCauses = ({ faults, collectives, durationNs }: CauseEvidence) =>
  faults
    .filter(({ costNs }) => costNs >= LEAST_SHARE * durationNs)
    .sort((a, b) => b.costNs - a.costNs)
    .flatMap(({ what, file, costNs, commId, connection, ...fault }) => {
      if (what === 'starved proxy thread') return [];
      const { rank, host, ends, slowPairs, pairs, channel, cannotTell, links, ratio, by, transfers } = fault;
      const about = { rank, host, ends, slowPairs, pairs, channel, cannotTell, links, ratio, by, transfers };
      const view = longestOf(collectives, commId);
      const isSure = cannotTell === null;
      const parts = { isSure, connection, cost: costNs, who: accused([file], 'SLOW SENDS') };
      return [causeOf(what, { ...about, view }, parts)];
    });
