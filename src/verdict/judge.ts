/**
 * From the joined collectives and each rank's last stand to a verdict. No claim goes beyond the evidence: who is called
 * late came last by more than the clocks can be wrong, who is said never to have entered was recording before and after, and a
 * hang is only called one when nothing has moved for much longer than anything ever took.
 */

import type { TraceNs } from '../base/time.js';
import type { ClusterComm } from '../cluster/types.js';
import { causeOf } from './causes.js';
import { describeHang, mismatchOf } from './hang.js';
import { firstMismatch } from './mismatch.js';
import { slowest } from './slowness.js';
import { endOfRun, findStalls } from './stalls.js';
import type { RankWitness, Verdict, VerdictKind } from './types.js';

/** All that is laid before the judge. */
export interface Case {
  readonly comms: readonly ClusterComm[];
  /** By file. */
  readonly ranks: readonly RankWitness[];
  /** Whether the files lie on one axis, within the bounds of their clocks. */
  readonly comparable: (files: readonly number[]) => boolean;
  /** How far two files' clocks can be wrong against each other (99 %), ns; 0: one counter. */
  readonly clockBound: (fileA: number, fileB: number, at: TraceNs) => number;
}

export function judge(evidence: Case): Verdict {
  const { comms, ranks, comparable } = evidence;
  const { slow, unresolved } = slowest(evidence);
  return {
    ...kindOf(evidence, slow),
    untold: ranks.reduce((sum, rank) => sum + rank.untold, 0),
    partial: ranks.flatMap(({ isPartial }, file) => (isPartial ? [file] : [])),
    notRecorded: notRecorded(ranks),
    seen: {
      communicators: comms.length,
      collectives: comms.reduce((sum, { collectives }) => sum + collectives.length, 0),
    },
    lateness: comms.every(({ files }) => comparable(files)),
    unresolved,
  };
}

function kindOf(evidence: Case, slow: ReturnType<typeof slowest>['slow']): VerdictKind {
  const { ranks } = evidence;
  if (ranks.every(({ lastMove }) => lastMove.size === 0)) return { kind: 'nothing' };
  const stalls = findStalls(evidence);
  const cause = causeOf(stalls, ranks, (stall) => mismatchOf(stall, evidence) === null);
  if (cause) return { kind: 'hung', hang: describeHang(cause, stalls, evidence) };
  const mismatch = firstMismatch(evidence);
  if (mismatch) return { kind: 'mismatch', mismatch };
  if (slow) return { kind: 'slow', slow };
  const unfinished = filesAtWork(evidence);
  if (unfinished.length > 0) {
    const end = endOfRun(ranks);
    const moved = ranks.flatMap(({ lastMove }) => [...lastMove.values()]);
    const stood = end - moved.reduce((a, b) => (b > a ? b : a));
    return { kind: 'working', working: { end, stood, files: unfinished } };
  }
  return { kind: 'healthy' };
}

/** Also those whose only unfinished part another process executes (PXN). */
function filesAtWork({ comms, ranks }: Case): number[] {
  const open = new Set(comms.flatMap(({ collectives }) => collectives.flatMap((one) => one.open)));
  return ranks.flatMap(({ works }, file) => (works.length > 0 || open.has(file) ? [file] : []));
}

function notRecorded(ranks: readonly RankWitness[]): Verdict['notRecorded'] {
  const byEvent = new Map<string, number[]>();
  ranks.forEach((rank, file) => {
    for (const event of rank.notRecorded) byEvent.set(event, [...(byEvent.get(event) ?? []), file]);
  });
  return [...byEvent].map(([event, files]) => ({ event, files }));
}
