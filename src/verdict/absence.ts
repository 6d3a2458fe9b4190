/** Which ranks entered a collective, and which ranks certainly did not. A file proves this only for the time of its records. */

import { maxOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm, Collective } from '../cluster/collective_view.js';
import type { RankWitness } from './file_facts.js';

/** ns: ranks may arrive this far apart. Nothing shorter is called a hang. */
export const SHORTEST_HANG = 1e9;

/** ns: heartbeats come once a second. A rank without a heartbeat for longer than this is silent, which does not mean dead. */
export const SILENT_AFTER = 1.5e9;

/** At most this many ranks that entered are asked for the order of calls. */
const MOST_WITNESSES = 8;

/**
 * Files whose ranks certainly did not enter: their records cover the time, but not the call. Records that end soon after the call prove
 * nothing. A file that lost older records proves something only if it still has an earlier call of the communicator. A rank that runs ahead
 * enters first, so its record may be overwritten.
 */
export function absentFrom(one: Collective, comm: ClusterComm, ranks: readonly RankWitness[]): number[] {
  return unseenBy(one, ranks).filter((file) => wouldKnow(file, one, comm, ranks));
}

function wouldKnow(file: number, one: Collective, comm: ClusterComm, ranks: readonly RankWitness[]): boolean {
  const rank = ranks[file]!;
  const { knownUntil } = rank.reach;
  if (knownUntil - one.firstCalled < SHORTEST_HANG) return false;
  return reaches(rank, one, comm, ranks);
}

/** Whether no lost record before the end of the file can be this call. */
function reaches(
  rank: RankWitness,
  one: Collective,
  comm: ClusterComm,
  ranks: readonly RankWitness[],
): boolean {
  const { knownFrom, isPartial } = rank.reach;
  if (!Number.isFinite(knownFrom)) return false;
  return !isPartial || (knownFrom <= one.firstCalled && knowsEarlierCall(rank, one, comm, ranks));
}

/** The files in `gone` whose ranks had not entered. Their records end with their processes. */
export const goneBefore = (
  one: Collective,
  gone: readonly number[],
  comm: ClusterComm,
  ranks: readonly RankWitness[],
): number[] =>
  gone.length === 0
    ? []
    : unseenBy(one, ranks).filter((file) => gone.includes(file) && reaches(ranks[file]!, one, comm, ranks));

/** Processes with several ranks of which only some entered, with the ranks that did not. `several`: the result of `ofSeveralRanks`. */
export function partlyAbsentFrom(
  one: Collective,
  comm: ClusterComm,
  ranks: readonly RankWitness[],
  several: readonly number[] = ofSeveralRanks(comm, ranks),
): { readonly file: number; readonly inComm: readonly number[] }[] {
  if (several.length === 0) return [];
  const there = new Set(enteredBy(comm, one));
  return several.flatMap((file) => {
    if (!there.has(file)) return [];
    const entered = ranks[file]!.calls.enteredAs(comm.commId, one);
    const inComm = ranksInComm(ranks[file]!, comm.commId).filter((rank) => !entered.includes(rank));
    return inComm.length > 0 && wouldKnow(file, one, comm, ranks) ? [{ file, inComm }] : [];
  });
}

/** Files of processes that are several ranks of a communicator. */
export const ofSeveralRanks = ({ files, commId }: ClusterComm, ranks: readonly RankWitness[]): number[] =>
  files.filter((file) => ranksInComm(ranks[file]!, commId).length > 1);

/** Ascending; several for a process with several GPUs. */
export const ranksInComm = ({ communicators }: RankWitness, commId: bigint | null): number[] => [
  ...new Set(
    [...communicators.values()]
      .flatMap((comm) => (comm.commId === commId ? [comm.rank] : []))
      .sort((a, b) => a - b),
  ),
];

/**
 * Files with the communicator, and those that may have it: all if NCCL does not report which it is. Else, if it has ranks without a file,
 * files without any communicator, because they were copied before it existed.
 */
export function membersOf(commId: bigint | null, nRanks: number, ranks: readonly RankWitness[]): number[] {
  const present = new Set(ranks.flatMap((rank) => ranksInComm(rank, commId)));
  return ranks.flatMap((rank, file) => {
    const { communicators, life } = rank;
    const mayBe = present.size < nRanks && communicators.size === 0 && !life.isClosed;
    return commId === null || mayBe || ranksInComm(rank, commId).length > 0 ? [file] : [];
  });
}

/** If a file's records of the communicator begin later, the file counts only if it lost nothing. Then its rank never called before. */
function unseenBy({ absent, notKnown }: Collective, ranks: readonly RankWitness[]): number[] {
  const complete = notKnown.filter((file) => !ranks[file]!.reach.isPartial);
  return complete.length === 0 ? [...absent] : [...absent, ...complete].sort((a, b) => a - b);
}

/**
 * The file still has a call that ranks made before the collective, so a record of the collective would not have been overwritten. If the
 * file's oldest call is older than all calls that the other files still have, its newest call decides. An absent rank has called less, so
 * its window reaches further back.
 */
function knowsEarlierCall(
  { calls, reach: { knownFrom } }: RankWitness,
  one: Collective,
  comm: ClusterComm,
  ranks: readonly RankWitness[],
): boolean {
  const { commId } = comm;
  const witnesses = enteredBy(comm, one).slice(0, MOST_WITNESSES);
  return [calls.oldest(commId, knownFrom), calls.newest(commId)].some((known) => {
    if (!known?.isAbsolute || known.at < knownFrom) return false;
    const orders = witnesses.flatMap((witness) => {
      const [other, itself] = [known, one].map((call) => ranks[witness]!.calls.entered(commId, call));
      return other && itself ? [other.at < itself.at] : [];
    });
    return orders.length > 0 && orders.every((isEarlier) => isEarlier);
  });
}

export function enteredBy({ files }: ClusterComm, { absent, notKnown }: Collective): number[] {
  if (absent.length + notKnown.length === 0) return [...files];
  const not = new Set([...absent, ...notKnown]);
  return files.filter((file) => !not.has(file));
}

/** When the rank left a communicator; null: it still has it. */
export function leftAt(commId: bigint | null, { communicators }: RankWitness): TraceNs | null {
  const ends = [...communicators.values()].flatMap((comm) =>
    comm.commId === commId ? [comm.finalized] : [],
  );
  return ends.every((end) => end !== null) && ends.length > 0 ? (maxOf(ends) as TraceNs) : null;
}
