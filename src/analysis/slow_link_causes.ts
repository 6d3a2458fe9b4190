/** What makes the transfers of a run slow, as causes: links (cluster/link_faults.ts), proxy threads and GPUs (cluster/long_waits.ts). */

import { hex64 } from '../base/hex.js';
import { accused, causeOf, longestOf, type CauseEvidence } from './cause_evidence.js';
import { ratioOf } from './slow_link_rows.js';

/** GPUs that fill slowly what they send. A kernel that only begins late is a late rank, and a GPU that takes data late is the verdict's. */
export const slowGpus = ({ gpus, late, collectives }: CauseEvidence) =>
  gpus.flatMap(({ rank, file, commId, costNs, ...wait }) => {
    if (rank === late) return [];
    const about = { rank, ...wait, view: longestOf(collectives, hex64(commId)) };
    return [causeOf('slow GPU', about, { cost: costNs, who: accused([file], 'SLOW GPU') })];
  });

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

export const slowLinkCauses = ({ faults, rowOf, collectives }: CauseEvidence) =>
  faults
    .toSorted((a, b) => b.costNs - a.costNs)
    .flatMap(({ what, file, links, ...fault }) => {
      const [first] = links;
      if (what === 'starved proxy thread' || !first) return [];
      const { rank, host, ends, slowPairs, pairs, channel, cannotTell, costNs } = fault;
      const { commId, file: source, peerFile, channel: of } = first.times;
      const about = {
        ...{ rank, host, ends, slowPairs, pairs, channel, cannotTell, ratio: ratioOf(first), by: first.by },
        links: links.flatMap(({ times }) => rowOf(times) ?? []),
        transfers: links.reduce((sum, { sends }) => sum + sends, 0),
        view: longestOf(collectives, hex64(commId)),
      };
      const parts = {
        ...{ isSure: cannotTell === null, cost: Math.round(costNs), who: accused([file], 'SLOW SENDS') },
        connection: { file: source, peerFile, channel: of, step: null },
      };
      return [causeOf(what, about, parts)];
    });
