/**
 * Files that are older copies: somebody copied a live file earlier than the other files. The rank of such a file looks silent unless the
 * other files prove that it lived. Data that arrive later do not prove that the sender lived, because they may have been in flight. A
 * finished collective proves it.
 */

import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import { ALL_TO_ALL } from '../model/roots.js';
import { cached, type Facts } from './case.js';
import type { RankWitness } from './file_facts.js';

/** Whether the process certainly lived after its file's last sign. */
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
 * The rank may have entered both collectives before its last sign, if the records are missing from its file. But on this rank the earlier
 * collective ended only after another rank came, and that rank came after the last sign. Only then did this rank begin its part of the
 * later collective. The others received that part, so it lived.
 */
function tookPart({ before }: Finished, file: number, evidence: Facts): boolean {
  return before !== null && beganAfter(before.lastArrival, before.lastFile, file, evidence);
}

function beganAfter(at: Collective['lastArrival'], by: number, file: number, evidence: Facts): boolean {
  const { ranks, comparable, clockBound } = evidence;
  return comparable([by, file]) && at - clockBound(by, file, at) > ranks[file]!.life.lastSign!;
}

/** The rings inside the file are never older than its heartbeat, and its calls are complete from some time on. */
const isCompleteToItsEnd = ({ life: { lastSign }, reach }: RankWitness): boolean =>
  Number.isFinite(reach.knownFrom) && lastSign !== null && reach.knownUntil >= lastSign;

interface Finished {
  /** The newest collective for which a rank had all its data. */
  readonly one: Collective;
  /**
   * The collectives that ended on a rank before `one` began are in an earlier group. This is the one of them that all ranks had entered
   * last.
   */
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
