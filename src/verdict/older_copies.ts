/**
 * Files that are older than their ranks: a copy of a live file that was made before others. It looks like a rank that fell silent,
 * but for what the others tell of it. That data came from it later does not show that it lived then: what it had sent may have
 * been on its way. What a communicator finished does.
 */

import type { ClusterComm, Collective } from '../cluster/types.js';
import type { Case } from './case.js';
import type { RankWitness } from './types.js';

/** The result on each rank needs what each other one gives. */
const ALL_TO_ALL: readonly string[] = ['AllReduce', 'AllGather', 'ReduceScatter'];

/** Its process surely lived after the last sign of life in its file. */
export const livedLater = (file: number, evidence: Case): boolean =>
  evidence.comms.some((comm) => comm.files.includes(file) && livedLaterIn(comm, file, evidence));

export function livedLaterIn(comm: ClusterComm, file: number, evidence: Case): boolean {
  const rank = evidence.ranks[file]!;
  if (rank.isClosed || rank.lastSign === null) return false;
  const last = newestFinished(comm);
  return last !== null && (enteredUnseen(last, file, evidence) || tookPart(last, file, evidence));
}

/** Others finished what needs it, and its file, which has all up to its last sign, does not know of it: it entered later. */
function enteredUnseen({ one }: Finished, file: number, evidence: Case): boolean {
  const rank = evidence.ranks[file]!;
  return isCompleteToItsEnd(rank) && beganAfter(one.firstCalled, one.firstFile, file, evidence);
}

/**
 * It may have entered both before its last sign, where records of that are not in its file. But the earlier one ended on it when a
 * rank had come that came after that sign, and only then it began with its part of the later one, which others had.
 */
function tookPart({ before }: Finished, file: number, evidence: Case): boolean {
  return before !== null && beganAfter(before.lastArrival, before.lastFile, file, evidence);
}

function beganAfter(at: Collective['lastArrival'], by: number, file: number, evidence: Case): boolean {
  const { ranks, comparable, clockBound } = evidence;
  return comparable([by, file]) && at - clockBound(by, file, at) > ranks[file]!.lastSign!;
}

/** Rings in the file itself are never behind its heartbeat; and its records of calls are whole from some time on. */
const isCompleteToItsEnd = ({ lastSign, knownFrom, knownUntil }: RankWitness): boolean =>
  Number.isFinite(knownFrom) && lastSign !== null && knownUntil >= lastSign;

interface Finished {
  /** The newest of which a rank had all that it needed. */
  readonly one: Collective;
  /** Of those that had ended on a rank before that one began, and so are no part of the same group: the last to be entered by all. */
  readonly before: Collective | null;
}

const known = new WeakMap<ClusterComm, Finished | null>();

function newestFinished(comm: ClusterComm): Finished | null {
  let found = known.get(comm);
  if (found === undefined) {
    found = findNewestFinished(comm);
    known.set(comm, found);
  }
  return found;
}

function findNewestFinished({ collectives }: ClusterComm): Finished | null {
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
}
