/**
 * Why a run is slow, as far as its numbers show it. The causes are: everything is slower since a moment, a proxy thread
 * without CPU time, slow links and what they have in common, a slow GPU, communicators in each other's way, an unusual algorithm or
 * protocol, a group that is slower than its sisters, an uneven AlltoAll. Each cause has its evidence, or says what is not known. A rank that
 * is late is the verdict's. A healthy run has no cause.
 */

import { binarySize, timesText } from '../base/units.js';
import type { AllToAll, Most } from './all_to_all.js';
import { longestOf, nameOf, type CauseEvidence } from './cause_evidence.js';
import { contention } from './contention.js';
import { slowGpus, starvedThreads } from './long_waits.js';
import { slowLinkCauses } from './slow_link_causes.js';
import { slowGroups } from './slow_groups.js';
import { slowerSince } from './slower_since.js';
import { unlikePlans } from './unlike_plans.js';

export type Cause = ReturnType<typeof causesOf>[number];

export function causesOf(evidence: CauseEvidence) {
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
    ...evidence.allToAlls.flatMap((one) => unevenAllToAll(one, evidence) ?? []),
  ].filter((cause) => cause !== null);
}

/** What it costs is not known: all wait for the rank with most, and something else may be under way meanwhile. */
function unevenAllToAll({ comm, commId, most }: AllToAll, { collectives }: CauseEvidence) {
  if (most === null) return null;
  return {
    ...{ cause: 'uneven AlltoAll' as const, comm, commId, ...most, costNs: null },
    view: longestOf(collectives, commId),
    says: `AlltoAll on ${nameOf({ comm, commId })} is uneven: ${unevenText(most)}`,
  };
}

/** Also what may make that rank late. */
export const unevenText = ({ rank, receives, bytes, usual, calls }: Most): string =>
  `rank ${rank} ${receives ? 'receives' : 'sends'} ${binarySize(bytes)} in each of ${calls} calls, the others ` +
  (usual === 0 ? 'nothing' : `${binarySize(usual)} (${timesText(bytes / usual)})`);
