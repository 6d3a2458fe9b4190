/** Finds stalls: per communicator the collective, or the sends and receives, that did not go on. */

import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import {
  absentFrom,
  enteredBy,
  goneBefore,
  ofSeveralRanks,
  partlyAbsentFrom,
  SHORTEST_HANG,
  SILENT_AFTER,
} from './absence.js';
import { commOf, knownAfter, knownUntilOf, type Case } from './case.js';
import { filesOfComm, type FileWork } from './front.js';
import { goneSince } from './lives.js';
import { behindOthers } from './host_calls.js';
import type { RankWitness, WitnessedCall, WitnessedWork } from './facts.js';

/** Times its communicator's longest collective or pause before. */
export const MUCH_LONGER = 2;

/** ns, if no send or receive ever ended: a receive may be posted long before its send. */
export const TRANSFER_MAY_TAKE = 5e9;

export interface Stall {
  /** null: not reported. */
  readonly commId: bigint | null;
  readonly name: string;
  readonly nRanks: number;
  /** Files with the communicator. */
  readonly files: readonly number[];
  /** null: sends/receives, or collectives of a communicator without an id. */
  readonly collective: Collective | null;
  /** Unfinished works of this collective. */
  readonly works: readonly FileWork[];
  /** Threads inside an NCCL call that has not returned: nothing is enqueued yet. */
  readonly inside: readonly Inside[];
  /** Never entered, and would have been recorded. For sends/receives the other sides without unfinished work here. */
  readonly absent: readonly number[];
  /** Only some of their ranks entered: the ranks that did not. */
  readonly partlyAbsent: readonly { readonly file: number; readonly inComm: readonly number[] }[];
  readonly since: TraceNs;
  /** Newest sign of its files: the stall is known up to here. */
  readonly until: TraceNs;
  /** ns: longest finished collective or transfer of its communicator, with all its waiting. */
  readonly mayTake: number;
  /** ns: longest collective or pause of its communicator; likewise of transfers. */
  readonly longestBefore: number;
}

export interface Inside {
  readonly file: number;
  readonly call: WitnessedCall;
}

export const findStalls = (evidence: Case): Stall[] =>
  findUnfinished(evidence).filter(({ since, until }) => until - since >= SHORTEST_HANG);

/** Of any age. */
export function findUnfinished(evidence: Case): Stall[] {
  const { comms, ranks } = evidence;
  const pending = comms.flatMap((comm) => stalledIn(comm, evidence));
  const joined = pending.map(({ comm, one }) => collectiveStall(comm, one, evidence));
  const covered = new Map(
    joined.flatMap((stall) => (stall.commId === null ? [] : [[stall.commId, stall] as const])),
  );
  return [...joined, ...looseStalls(ranks, covered), ...insideStalls(evidence, covered)];
}

/** Neither an end nor its absence is reported. */
const isEndNotKnown = ({ end, open, aborted }: Collective): boolean =>
  end === null && open.length + aborted.length === 0;

/** Files of a communicator whose processes are gone since its last move. */
const goneIn = (comm: ClusterComm, evidence: Case): number[] =>
  goneSince(comm.files, evidence, stoodSince(comm, evidence.ranks), MUCH_LONGER * longestIn(comm));

/** ns: longest collective or pause. */
const longestIn = (comm: ClusterComm): number => Math.max(longestFinished(comm), longestPause(comm));

/** null: no transfer ended. */
function longestTransfer(files: readonly number[], ranks: readonly RankWitness[]): number | null {
  const ended = files.flatMap((file) => ranks[file]!.pace.longestTransfer ?? []);
  return ended.length === 0 ? null : maxOf(ended);
}

/** The oldest unfinished collective. One that may have ended in lost records counts only if there is no other. */
function stalledIn(comm: ClusterComm, evidence: Case): { comm: ClusterComm; one: Collective }[] {
  const { ranks } = evidence;
  const several = ofSeveralRanks(comm, ranks);
  let gone: readonly number[] | undefined;
  const lacksGone = (one: Collective): boolean =>
    isEndNotKnown(one) &&
    one.absent.length + one.notKnown.length > 0 &&
    goneBefore(one, (gone ??= goneIn(comm, evidence)), comm, ranks).length > 0;
  const unfinished = comm.collectives.filter(
    (one) =>
      one.open.length + one.aborted.length > 0 ||
      (one.end === null &&
        absentFrom(one, comm, ranks).length + partlyAbsentFrom(one, comm, ranks, several).length > 0) ||
      lacksGone(one),
  );
  const sure = unfinished.filter((one) => !mayHaveEnded(one, comm, ranks));
  const candidates = sure.length > 0 ? sure : unfinished;
  const oldest = candidates.find((one) => !isLeftBehind(one, candidates, evidence)) ?? candidates[0];
  if (!oldest) return [];
  // Ranks that entered different ones exclude each other: most ranks are right, and the others strayed.
  const rivals = unfinished.filter((one) => one === oldest || excludeEachOther(one, oldest));
  const most = rivals.reduce((a, b) => (begun(b).length > begun(a).length ? b : a));
  return [{ comm, one: most }];
}

/**
 * Only unfinished in silent files, while others finished it and now stand in a later one. A process died in it after doing its part, or its
 * file is older (a copy, or all that is left of a dead node). The live ranks show how long the stall lasts.
 */
function isLeftBehind(one: Collective, unfinished: readonly Collective[], { ranks }: Case): boolean {
  const files = begun(one);
  if (one.end === null || files.length === 0) return false;
  const until = knownUntilOf(files, ranks);
  return unfinished.some(
    (later) =>
      later.firstCalled > one.firstCalled && knownUntilOf(begun(later), ranks) - until > SILENT_AFTER,
  );
}

function mayHaveEnded(one: Collective, comm: ClusterComm, ranks: readonly RankWitness[]): boolean {
  if (begun(one).length === 0 || one.absent.length > 0) return false;
  return begun(one).every((file) => {
    const works = ranks[file]!.pending.works.filter((work) => isOf(ranks[file]!, work, comm, one));
    return works.length > 0 && works.every(({ lostSince }) => lostSince > 0);
  });
}

const begun = ({ open, aborted }: Collective): readonly number[] => [...open, ...aborted];
const excludeEachOther = (a: Collective, b: Collective): boolean =>
  begun(a).some((file) => b.absent.includes(file)) && begun(b).some((file) => a.absent.includes(file));

function collectiveStall(comm: ClusterComm, collective: Collective, evidence: Case): Stall {
  const { ranks } = evidence;
  const { commId, name, nRanks, files } = comm;
  const isAborted = collective.open.length === 0 && collective.aborted.length > 0;
  const entered = begun(collective);
  const works = entered.flatMap((file) =>
    ranks[file]!.pending.works.flatMap((work) =>
      isOf(ranks[file]!, work, comm, collective) ? [{ file, work }] : [],
    ),
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
    files,
    collective,
    works,
    inside: [],
    absent: [...new Set([...absent, ...gone])].sort((a, b) => a - b),
    partlyAbsent: partlyAbsentFrom(collective, comm, ranks),
    since: Math.max(collective.firstArrival, stoodSince(comm, ranks)) as TraceNs,
    until: isAborted ? (collective.end ?? until) : until,
    mayTake: longest,
    longestBefore: Math.max(longest, longestPause(comm, collective)),
  };
}

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

function isOf(rank: RankWitness, work: WitnessedWork, { commId }: ClusterComm, one: Collective): boolean {
  const isSame = work.func === one.func && work.seq === one.seq && work.ordinal === one.ordinal;
  return isSame && commOf(rank, work)?.commId === commId;
}

const stoodSince = ({ commId, files }: ClusterComm, ranks: readonly RankWitness[]): TraceNs =>
  files.reduce((latest, file) => Math.max(latest, lastMoveIn(commId, ranks[file]!)), 0) as TraceNs;

function lastMoveIn(commId: bigint, { communicators, pace }: RankWitness): number {
  let latest = 0;
  for (const [number, comm] of communicators)
    if (comm.commId === commId) latest = Math.max(latest, pace.lastMove.get(number) ?? 0);
  return latest;
}

/**
 * Sends and receives, except those queued behind the communicator's stuck collective; and collectives that cannot be joined, because their
 * communicator has no id.
 */
function looseStalls(ranks: readonly RankWitness[], covered: ReadonlyMap<bigint, Stall>): Stall[] {
  const groups = new Map<string, FileWork[]>();
  ranks.forEach((rank, file) => {
    for (const work of rank.pending.works) {
      const commId = commOf(rank, work)?.commId ?? 0n;
      const collective = covered.get(commId);
      if (collective && (work.seq !== null || queuesBehind({ file, work }, collective))) continue;
      const key = commId === 0n ? `${file} ${work.comm}` : `${commId}`;
      groups.set(key, [...(groups.get(key) ?? []), { file, work }]);
    }
  });
  return [...groups.values()].map((works) => looseStall(works, ranks));
}

function queuesBehind({ file, work }: FileWork, { works }: Stall): boolean {
  return works.some((other) => other.file === file && other.work.start <= work.start);
}

function looseStall(works: readonly FileWork[], ranks: readonly RankWitness[]): Stall {
  const [{ file, work }] = works as [FileWork];
  const comm = commOf(ranks[file]!, work);
  const commId = comm === null || comm.commId === 0n ? null : comm.commId;
  const files =
    commId === null
      ? [file]
      : ranks.flatMap(({ communicators }, i) =>
          [...communicators.values()].some((one) => one.commId === commId) ? [i] : [],
        );
  const begin = works.reduce((latest, { work: one }) => Math.max(latest, one.start), 0);
  const moved = (i: number): number =>
    commId === null ? (ranks[i]!.pace.lastMove.get(work.comm ?? -1) ?? 0) : lastMoveIn(commId, ranks[i]!);
  const waiting = works.map((one) => one.file);
  const finals = works.map((one) => commOf(ranks[one.file]!, one.work)?.finalized ?? null);
  return {
    commId,
    name: comm?.name ?? '',
    nRanks: comm?.nRanks ?? 0,
    files,
    collective: null,
    works,
    inside: [],
    absent: idlePeers(works, commId, ranks),
    partlyAbsent: [],
    since: files.reduce((latest, i) => Math.max(latest, moved(i)), begin) as TraceNs,
    until: finals.reduce<TraceNs>(
      (least, at) => (at !== null && at < least ? at : least),
      knownUntilOf(waiting, ranks),
    ),
    mayTake: longestTransfer(files, ranks) ?? TRANSFER_MAY_TAKE,
    longestBefore: longestTransfer(files, ranks) ?? 0,
  };
}

/**
 * The other sides of unfinished sends and receives, if they have no unfinished work in this communicator. A rank that has finished its side
 * is not missing: what it sent did not arrive.
 */
function idlePeers(
  works: readonly FileWork[],
  commId: bigint | null,
  ranks: readonly RankWitness[],
): number[] {
  const fileOf = filesOfComm(ranks, commId);
  const pending = new Set(works.map(({ file }) => file));
  const peers = works.flatMap((one) => {
    const peer = one.work.peer === null ? null : fileOf(one.work.peer);
    return peer === null || beganItsSide(one, peer, commId, ranks) ? [] : [peer];
  });
  const idle = [...new Set(peers)].filter((file) => !pending.has(file) && !ranks[file]!.lacks.isDamaged);
  return idle.sort((a, b) => a - b);
}

const OTHER_SIDE: Readonly<Record<string, string>> = { Send: 'Recv', Recv: 'Send' };

/** With the same number between the two. */
function beganItsSide(
  { file, work }: FileWork,
  peerFile: number,
  commId: bigint | null,
  ranks: readonly RankWitness[],
): boolean {
  const own = commOf(ranks[file]!, work)?.rank;
  const { func, peer, ordinal } = work;
  const otherFunc = OTHER_SIDE[func];
  if (commId === null || own === undefined || peer === null || otherFunc === undefined) return false;
  return (
    ranks[file]!.calls.transferred(commId, { rank: own, func, peer, ordinal }) &&
    ranks[peerFile]!.calls.transferred(commId, { rank: peer, func: otherFunc, peer: own, ordinal })
  );
}

/**
 * Calls that have not returned, by communicator: NCCL connects in the first one and waits for its peers. Sends and receives are apart from
 * collectives, because a rank in one has passed or left out the other. A stuck collective of the communicator is the reason and comes
 * first.
 */
function insideStalls(evidence: Case, covered: ReadonlyMap<bigint, Stall>): Stall[] {
  const { ranks } = evidence;
  const groups = new Map<string, { commId: bigint; inside: Inside[] }>();
  ranks.forEach(({ pending, communicators }, file) => {
    for (const call of pending.inside) {
      const commId = communicators.get(call.comm)?.commId ?? 0n;
      if (commId === 0n || covered.has(commId)) continue;
      const key = `${commId} ${call.isTransfer}`;
      const group = groups.get(key) ?? { commId, inside: [] };
      group.inside.push({ file, call });
      groups.set(key, group);
    }
  });
  return [...groups.values()].map(({ commId, inside }) => insideStall(commId, inside, evidence));
}

function insideStall(commId: bigint, inside: readonly Inside[], evidence: Case): Stall {
  const { ranks, comms } = evidence;
  const files = ranks.flatMap(({ communicators }, file) =>
    [...communicators.values()].some((one) => one.commId === commId) ? [file] : [],
  );
  const [first] = inside as [Inside];
  const { name, nRanks } = ranks[first.file]!.communicators.get(first.call.comm)!;
  const comm = comms.find((one) => one.commId === commId);
  const since = maxOf([
    ...inside.map(({ call }) => call.at),
    ...files.map((file) => lastMoveIn(commId, ranks[file]!)),
  ]);
  return {
    commId,
    name,
    nRanks,
    files,
    collective: null,
    works: [],
    inside,
    absent: notInside(inside, files, commId, evidence),
    partlyAbsent: [],
    since: since as TraceNs,
    until: knownUntilOf(
      inside.map(({ file }) => file),
      ranks,
    ),
    mayTake: TRANSFER_MAY_TAKE,
    longestBefore: comm ? longestIn(comm) : 0,
  };
}

/**
 * For a collective the ranks that surely called less. For a send or receive, whose peer is not known, the only live rank outside, or one
 * that surely never began any.
 */
function notInside(
  inside: readonly Inside[],
  files: readonly number[],
  commId: bigint,
  evidence: Case,
): number[] {
  const { ranks } = evidence;
  const within = new Set(inside.map(({ file }) => file));
  if (inside.some(({ call }) => !call.isTransfer))
    return behindOthers(evidence)
      .filter((one) => one.commId === hex64(commId))
      .flatMap((one) => one.files)
      .filter((file) => !within.has(file))
      .sort((a, b) => a - b);
  const livedOn = (file: number): boolean =>
    inside.every(
      ({ file: other, call }) =>
        knownAfter([file, ranks[file]!.reach.knownUntil], [other, call.at], commId, evidence) >=
        SHORTEST_HANG,
    );
  const outside = files.filter((file) => !within.has(file) && !ranks[file]!.life.isClosed && livedOn(file));
  const never = outside.filter((file) => neverTransferred(ranks[file]!, commId));
  return [outside, never].find(({ length }) => length === 1) ?? [];
}

const neverTransferred = ({ calls, reach }: RankWitness, commId: bigint): boolean =>
  !reach.isPartial && Number.isFinite(reach.knownFrom) && !calls.hasTransfers(commId);

/** Files whose pending work may have ended among the lost records. */
export function filesInDoubt(works: readonly FileWork[]): number[] {
  const surely = new Set(works.filter(({ work }) => work.lostSince === 0).map(({ file }) => file));
  return [...new Set(works.map(({ file }) => file))].filter((file) => !surely.has(file));
}
