/**
 * Why a run is slow, as far as its numbers show it. The causes are: everything is slower since a moment, a proxy thread
 * without CPU time, slow links and what they have in common, a slow GPU, communicators in each other's way, an unusual algorithm or
 * protocol, a group that is slower than its sisters, an uneven AlltoAll. Each cause has its evidence, or says what is not known. A rank that
 * is late is the verdict's. A healthy run has no cause.
 */

import type { LinkFault } from '../cluster/link_faults.js';
import { LEAST_SHARE } from '../cluster/run_links.js';
import type { AllToAll } from './all_to_all.js';
import { accused, callsOf, causeOf, longestOf, type CauseEvidence } from './cause_evidence.js';
import { contention } from './contention.js';
import { slowGpus, slowLinkCauses, starvedThreads } from './slow_link_causes.js';
import { slowGroups } from './slow_groups.js';
import { slowerSince } from './slower_since.js';
import { unlikePlans } from './unlike_plans.js';

export type Cause = ReturnType<typeof causesOf>[number];

export function causesOf(all: CauseEvidence) {
  const isCause = ({ costNs }: LinkFault): boolean => costNs >= LEAST_SHARE * all.durationNs;
  const evidence = { ...all, faults: all.faults.filter(isCause) };
  return [
    slowerSince(evidence),
    ...starvedThreads(evidence),
    ...slowLinkCauses(evidence),
    ...slowGpus(evidence),
    ...contention(evidence),
    ...unlikePlans(evidence),
    ...slowGroups(evidence),
    ...evidence.allToAlls.flatMap((one) => unevenAllToAll(one, evidence) ?? []),
  ].filter((cause) => cause !== null);
}

/** What it costs is not known: all wait for the rank with most, and something else may be under way meanwhile. */
function unevenAllToAll({ comm, commId, most }: AllToAll, { collectives, filesOf }: CauseEvidence) {
  if (most === null) return null;
  return causeOf(
    'uneven AlltoAll',
    { ...most, view: longestOf(collectives, commId) },
    { where: callsOf({ comm, commId, func: 'AlltoAll' }), who: accused(filesOf(most.rank), 'UNEVEN') },
  );
}
