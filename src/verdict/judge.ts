/**
 * From the joined collectives and each rank's last stand to a verdict. No claim goes beyond the evidence: who is called
 * late came last on one clock, who is said never to have entered was recording before and after, and a hang is only called
 * one when nothing has moved for much longer than anything ever took.
 */

import type { ClusterComm } from '../cluster/types.js';
import { describeHang } from './hang.js';
import { slowest } from './slowness.js';
import { causeOf, endOfRun, findStalls } from './stalls.js';
import type { RankWitness, Verdict, VerdictKind } from './types.js';

export interface Evidence {
  readonly comms: readonly ClusterComm[];
  /** By file. */
  readonly ranks: readonly RankWitness[];
  /** Whether the files are on one clock to within less than a lateness is worth telling. */
  readonly comparable: (files: readonly number[]) => boolean;
}

export function judge(evidence: Evidence): Verdict {
  const { comms, ranks, comparable } = evidence;
  return {
    ...kindOf(evidence),
    untold: ranks.reduce((sum, rank) => sum + rank.untold, 0),
    partial: ranks.flatMap(({ isPartial }, file) => (isPartial ? [file] : [])),
    lateness: comms.every(({ files }) => comparable(files)),
  };
}

function kindOf(evidence: Evidence): VerdictKind {
  const { ranks } = evidence;
  if (ranks.every(({ lastMove }) => lastMove.size === 0)) return { kind: 'nothing' };
  const stalls = findStalls(evidence);
  const cause = causeOf(stalls, ranks);
  if (cause) return { kind: 'hung', hang: describeHang(cause, stalls, ranks) };
  const unfinished = filesAtWork(evidence);
  if (unfinished.length > 0) {
    const end = endOfRun(ranks);
    const moved = ranks.flatMap(({ lastMove }) => [...lastMove.values()]);
    const stood = end - moved.reduce((a, b) => (b > a ? b : a));
    return { kind: 'working', working: { end, stood, files: unfinished } };
  }
  const slow = slowest(evidence);
  return slow ? { kind: 'slow', slow } : { kind: 'healthy' };
}

/** Also those whose only unfinished part another process executes (PXN). */
function filesAtWork({ comms, ranks }: Evidence): number[] {
  const open = new Set(comms.flatMap(({ collectives }) => collectives.flatMap((one) => one.open)));
  return ranks.flatMap(({ works }, file) => (works.length > 0 || open.has(file) ? [file] : []));
}
