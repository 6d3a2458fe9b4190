/** Finds stalls: in each communicator the collective, the sends and receives, or the calls that do not go on. */

import type { Collective } from '../cluster/collective_view.js';
import { SHORTEST_HANG } from './absence.js';
import type { Case } from './case.js';
import { ageOf, type Stall } from './stall.js';
import { insideStalls, standingStalls } from './stalled_calls.js';
import { collectiveStall, stalledIn } from './stalled_collective.js';
import { looseStalls } from './stalled_transfers.js';
import { unmatchedStalls } from './unmatched.js';

export const findStalls = (evidence: Case): Stall[] =>
  findUnfinished(evidence).filter((stall) => ageOf(stall, evidence.ranks) >= SHORTEST_HANG);

/** Unfinished work of any age. `isMeant`: looks only at these collectives, one per communicator. */
export function findUnfinished(evidence: Case, isMeant: (one: Collective) => boolean = () => true): Stall[] {
  const { comms, ranks } = evidence;
  const pending = comms.flatMap((comm) => stalledIn(comm, evidence, isMeant));
  const joined = pending.map(({ comm, one }) => collectiveStall(comm, one, evidence));
  const covered = new Map(
    joined.flatMap((stall) => (stall.commId === null ? [] : [[stall.commId, stall] as const])),
  );
  const all = [
    ...joined,
    ...looseStalls(ranks, covered),
    ...unmatchedStalls(evidence),
    ...insideStalls(evidence, covered),
  ];
  return [...all, ...standingStalls(evidence, covered, all)];
}
