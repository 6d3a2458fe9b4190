/** The collective in which a communicator stalls: its oldest unfinished one that most ranks are in. */

import { addTo } from '../base/grouped.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import {
  absentFrom,
  enteredBy,
  goneBefore,
  membersOf,
  ofSeveralRanks,
  partlyAbsentFrom,
  SILENT_AFTER,
} from './absence.js';
import { cached, commOf, knownUntilOf, lastMoveIn, type Case } from './case.js';
import type { PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';
import { goneSince } from './process_states.js';
import { MUCH_LONGER, type Stall } from './stall.js';

/** Neither an end nor its absence is reported. */
const isEndNotKnown = ({ end, open, aborted }: Collective): boolean =>
  end === null && open.length + aborted.length === 0;

/** Files of a communicator whose processes have died since its last move. */
const goneIn = (comm: ClusterComm, evidence: Case): number[] =>
  goneSince(comm.files, evidence, lastMoveOf(comm, evidence.ranks), MUCH_LONGER * longestIn(comm));

/** ns: longest collective or pause. */
export const longestIn = (comm: ClusterComm): number => Math.max(longestFinished(comm), longestPause(comm));

/** The oldest unfinished collective. One that may have ended in lost records counts only if there is no other. */
export function stalledIn(
  comm: ClusterComm,
  evidence: Case,
  isMeant: (one: Collective) => boolean,
): { comm: ClusterComm; one: Collective }[] {
  const { ranks } = evidence;
  const several = ofSeveralRanks(comm, ranks);
  let gone: readonly number[] | undefined;
  const lacksGone = (one: Collective): boolean =>
    isEndNotKnown(one) &&
    one.absent.length + one.notKnown.length > 0 &&
    goneBefore(one, (gone ??= goneIn(comm, evidence)), comm, ranks).length > 0;
  const unfinished = comm.collectives.filter(
    (one) =>
      isMeant(one) &&
      (one.open.length + one.aborted.length > 0 ||
        (one.end === null &&
          absentFrom(one, comm, ranks).length + partlyAbsentFrom(one, comm, ranks, several).length > 0) ||
        lacksGone(one)),
  );
  const sure = unfinished.filter((one) => !mayHaveEnded(one, comm, ranks));
  const candidates = sure.length > 0 ? sure : unfinished;
  const oldest = candidates.find((one) => !isLeftBehind(one, candidates, evidence)) ?? candidates[0];
  if (!oldest) return [];
  // If ranks entered different collectives, most ranks are right, and the others strayed.
  const rivals = unfinished.filter((one) => one === oldest || excludeEachOther(one, oldest));
  const most = rivals.reduce((a, b) => (begun(b).length > begun(a).length ? b : a));
  return [{ comm, one: most }];
}

/**
 * The collective is unfinished only in the files of silent ranks. The others are now stuck in a later one, so they finished it, although the
 * record of its end may be overwritten. Either a process died in it after it had done its part, or its file is older (a copy, or the rest of
 * a dead node). The live ranks show how long the stall lasts.
 */
function isLeftBehind(one: Collective, unfinished: readonly Collective[], { ranks }: Case): boolean {
  const files = begun(one);
  if (files.length === 0) return false;
  const until = knownUntilOf(files, ranks);
  return unfinished.some(
    (later) =>
      later.firstCalled > one.firstCalled && knownUntilOf(begun(later), ranks) - until > SILENT_AFTER,
  );
}

function mayHaveEnded(one: Collective, comm: ClusterComm, ranks: readonly RankWitness[]): boolean {
  if (begun(one).length === 0 || one.absent.length > 0) return false;
  return begun(one).every((file) => {
    const works = pendingIn(ranks[file]!, comm, one);
    return works.length > 0 && works.every(({ lostSince }) => lostSince > 0);
  });
}

const begun = ({ open, aborted }: Collective): readonly number[] => [...open, ...aborted];
const excludeEachOther = (a: Collective, b: Collective): boolean =>
  begun(a).some((file) => b.absent.includes(file)) && begun(b).some((file) => a.absent.includes(file));

export function collectiveStall(comm: ClusterComm, collective: Collective, evidence: Case): Stall {
  const { ranks } = evidence;
  const { commId, name, nRanks } = comm;
  const isAborted = collective.open.length === 0 && collective.aborted.length > 0;
  const entered = begun(collective);
  const works = entered.flatMap((file) =>
    pendingIn(ranks[file]!, comm, collective).map((work) => ({ file, work })),
  );
  const absent = absentFrom(collective, comm, ranks);
  const gone = isEndNotKnown(collective) ? goneBefore(collective, goneIn(comm, evidence), comm, ranks) : [];
  const waiting = entered.length > 0 ? entered : enteredBy(comm, collective);
  const until = knownUntilOf(waiting, ranks);
  const longest = longestFinished(comm);
  return {
    commId,
    name,
    nRanks,
    files: membersOf(commId, nRanks, ranks),
    collective,
    works,
    ...(entered.length === 0 && { called: callsOf(collective, comm, evidence.ranks) }),
    inside: [],
    absent: [...new Set([...absent, ...gone])].sort((a, b) => a - b),
    partlyAbsent: partlyAbsentFrom(collective, comm, ranks),
    since: Math.max(collective.firstArrival, lastMoveOf(comm, ranks)) as TraceNs,
    until: isAborted ? (collective.end ?? until) : until,
    mayTake: longest,
    longestBefore: Math.max(longest, longestPause(comm, collective)),
  };
}

const callsOf = (one: Collective, comm: ClusterComm, ranks: readonly RankWitness[]): Map<number, number> =>
  new Map(
    enteredBy(comm, one).flatMap((file) => {
      const call = ranks[file]!.calls.entered(comm.commId, one);
      return call ? [[file, call.at] as const] : [];
    }),
  );

/** ns. The first one is as long as the ranks' start-up. */
function longestFinished({ collectives }: ClusterComm): number {
  const finished = collectives.slice(1).filter((one) => one.end !== null && begun(one).length === 0);
  return finished.reduce((most, one) => Math.max(most, one.end! - one.firstArrival), 0);
}

/**
 * ns: between the known end of all begun collectives and the next arrival, before the stall. The pause after the first does not count,
 * because jobs compile and start up then. `pending` null: all pauses.
 */
function longestPause({ collectives }: ClusterComm, pending: Collective | null = null): number {
  let busyUntil = Infinity;
  let longest = 0;
  for (const one of collectives.slice(1)) {
    const { firstArrival, lastArrival, enqueued, end } = one;
    longest = Math.max(longest, firstArrival - busyUntil);
    const over = Math.max(lastArrival, enqueued ?? 0, end ?? 0);
    busyUntil = busyUntil === Infinity ? over : Math.max(busyUntil, over);
    if (one === pending || begun(one).length > 0) break;
  }
  return longest;
}

type CallOf = Pick<PendingWork, 'func' | 'seq' | 'ordinal'>;

const callKey = ({ func, seq, ordinal }: CallOf): string => `${func} ${seq} ${ordinal}`;

/** By call. A file may hold any number of works that did not end. */
const pendingWorks = cached(({ pending }: RankWitness): ReadonlyMap<string, readonly PendingWork[]> => {
  const byCall = new Map<string, PendingWork[]>();
  for (const work of pending.works) addTo(byCall, callKey(work), work);
  return byCall;
});

const pendingIn = (rank: RankWitness, { commId }: ClusterComm, one: Collective): PendingWork[] =>
  (pendingWorks(rank).get(callKey(one)) ?? []).filter((work) => commOf(rank, work)?.commId === commId);

const lastMoveOf = ({ commId, files }: ClusterComm, ranks: readonly RankWitness[]): TraceNs =>
  files.reduce((latest, file) => Math.max(latest, lastMoveIn(commId, ranks[file]!)), 0) as TraceNs;
