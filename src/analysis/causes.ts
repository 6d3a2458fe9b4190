/**
 * Why a run is slow, as far as its numbers show it. The causes are: everything is slower since a moment, a proxy thread
 * without CPU time, slow links and what they have in common, a slow GPU, communicators in each other's way, an unusual algorithm or
 * protocol, a group that is slower than its sisters, an uneven AlltoAll. Each cause has its evidence, or says what is not known. A rank that
 * is late is the verdict's. A healthy run has no cause.
 */

import { type Cause, type CauseEvidence, longestOf, type UnevenAllToAll } from './cause_types.js';
import { contention } from './contention.js';
import { slowGpus, starvedThreads } from './long_waits.js';
import { slowLinkCauses } from './slow_link_causes.js';
import { slowGroups } from './slow_groups.js';
import { slowerSince } from './slower_since.js';
import { unlikePlans } from './unlike_plans.js';

export type { Cause } from './cause_types.js';

export function causesOf(evidence: CauseEvidence): Cause[] {
  const starved = starvedThreads(evidence);
  const links = slowLinkCauses(evidence, new Set(starved.map(({ rank }) => rank)));
  return [
    slowerSince(evidence),
    ...starved,
    ...links,
    ...slowGpus(evidence, links, starved),
    ...contention(evidence),
    ...unlikePlans(evidence),
    ...slowGroups(evidence, links),
    ...unevenAllToAlls(evidence),
  ].filter((cause) => cause !== null);
}

/** AlltoAlls that are uneven. What it costs is not known: all wait for the rank with most, and something else may be under way meanwhile. */
const unevenAllToAlls = ({ allToAlls, collectives }: CauseEvidence): UnevenAllToAll[] =>
  allToAlls.flatMap(({ comm, commId, most }) =>
    most === null
      ? []
      : [
          {
            cause: 'uneven AlltoAll',
            comm,
            commId,
            ...most,
            costNs: null,
            view: longestOf(collectives, commId),
          },
        ],
  );
