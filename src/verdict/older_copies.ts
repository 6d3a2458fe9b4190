/**
 * Files that are older than their ranks: copies of live files that were made before the other files. Their ranks look silent unless the
 * others prove otherwise. Data that arrive later do not prove that the sender lived: they may have been in flight. A finished collective
 * does.
 */

import type { ClusterComm, Collective } from '../cluster/types.js';
import { cached, type Facts } from './case.js';
import type { RankWitness } from './file_facts.js';

/** The result on each rank needs every other rank's input. */
const ALL_TO_ALL: readonly string[] = ['AllReduce', 'AllGather', 'ReduceScatter'];

/** Its process surely lived after its file's last sign. */
export const livedLater = (file: number, evidence: Facts): boolean =>
  evidence.comms.some((comm) => comm.files.includes(file) && livedLaterIn(comm, file, evidence));

export function livedLaterIn(comm: ClusterComm, file: number, evidence: Facts): boolean {
  const rank = evidence.ranks[file]!;
  if (rank.life.isClosed || rank.life.lastSign === null) return false;
  const last = newestFinished(comm);
  return last !== null && (enteredUnseen(last, file, evidence) || tookPart(last, file, evidence));
}

/** Others finished a collective that needs this rank, and the rank's complete file does not have it. So the rank entered it later. */
function enteredUnseen({ one }: Finished, file: number, evidence: Facts): boolean {
  const rank = evidence.ranks[file]!;
  return isCompleteToItsEnd(rank) && beganAfter(one.firstCalled, one.firstFile, file, evidence);
}

/**
 * The rank may have entered both collectives before its last sign, if those records are not in its file. But the earlier one ended on it
 * only after another rank came, and that rank came after the last sign. Only then did it begin its part of the later one, which others
 * received.
 */
function tookPart({ before }: Finished, file: number, evidence: Facts): boolean {
  return before !== null && beganAfter(before.lastArrival, before.lastFile, file, evidence);
}

function beganAfter(at: Collective['lastArrival'], by: number, file: number, evidence: Facts): boolean {
  const { ranks, comparable, clockBound } = evidence;
  return comparable([by, file]) && at - clockBound(by, file, at) > ranks[file]!.life.lastSign!;
}

/** Rings inside the file are never behind its heartbeat, and its calls are complete from some time on. */
const isCompleteToItsEnd = ({ life: { lastSign }, reach }: RankWitness): boolean =>
  Number.isFinite(reach.knownFrom) && lastSign !== null && reach.knownUntil >= lastSign;

interface Finished {
  /** The newest collective for which a rank had all it needed. */
  readonly one: Collective;
  /** Among collectives that ended on a rank before `one` began (so not in the same group), the last to be entered by all. */
  readonly before: Collective | null;
}

const newestFinished = cached(({ collectives }: ClusterComm): Finished | null => {
  const one = collectives.findLast((last) => last.isFed && ALL_TO_ALL.includes(last.func));
  if (!one) return null;
  const earlier = collectives.filter(
    ({ func, end, aborted }) =>
      ALL_TO_ALL.includes(func) && end !== null && end <= one.firstCalled && aborted.length === 0,
  );
  const before = earlier.reduce<Collective | null>(
    (a, b) => (a === null || b.lastArrival > a.lastArrival ? b : a),
    null,
  );
  return { one, before };
});
