/**
 * Why a run is slow, as far as its numbers show: everything since a moment, a late rank and when it is late, slow links and what they have in common,
 * a GPU that takes long over what arrived, communicators in each other's way. Each cause has its evidence, or says what is not known. A healthy
 * run has none.
 */

import type { Cause, CauseEvidence } from './cause_types.js';
import { contention } from './contention.js';
import { lateRank } from './late_rank.js';
import { slowGpus } from './slow_gpus.js';
import { slowLinkCauses } from './slow_link_causes.js';
import { slowerSince } from './slower_since.js';

export type { Cause } from './cause_types.js';

export function causesOf(evidence: CauseEvidence): Cause[] {
  const links = slowLinkCauses(evidence);
  return [
    slowerSince(evidence),
    lateRank(evidence),
    ...links,
    ...slowGpus(evidence, links),
    ...contention(evidence),
  ].filter((cause) => cause !== null);
}
