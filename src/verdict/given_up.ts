/**
 * Communicators that their ranks gave up: each rank that was stuck there left it (ncclCommAbort, ncclCommDestroy), or went on in a smaller
 * one without the missing ranks (ncclCommShrink), and some of them went on working. What stands there is over. If nobody went on, the job
 * was only cleaned up.
 */

import { hex64 } from '../base/hex.js';
import { maxOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import type { ClusterComm } from '../cluster/collective_view.js';
import { leftAt, membersOf, ranksInComm } from './absence.js';
import { lastMoveIn, type Case } from './case.js';
import type { Communicator } from '../model/recording.js';
import type { RankWitness } from './file_facts.js';
import { findUnfinished } from './find_stalls.js';
import { found, type Rule } from './finding.js';
import { describeHang } from './hang.js';
import { NO_STALL, silentAmong, silentFiles } from './process_states.js';
import type { GivenUp } from './scene.js';
import type { Stall } from './stall.js';
import type { Successor } from './types.js';

/** Oldest first. */
export const givenUp: Rule = ({ over, asRecorded }) =>
  over
    .toSorted((a, b) => a.at - b.at)
    .map(({ stall, at, next }) => {
      const hang = { ...describeHang(stall, [stall], backThen(stall, asRecorded)), until: at };
      const isOver = { kind: 'healthy', until: at, next } as const;
      return found('given up', { kind: 'hung', hang }, { stands: false, isSure: true, ...isOver });
    });

/** The evidence as of the time when the stall was given up: a rank that set up another communicator since it began died later, if at all. */
const backThen = ({ commId, since }: Stall, evidence: Case): Case => ({
  ...evidence,
  processes: evidence.processes.map((process, file) => {
    const { communicators } = evidence.ranks[file]!;
    const wentOn = [...communicators.values()].some(
      (comm) => comm.commId !== commId && (comm.init ?? -Infinity) > since,
    );
    return wentOn ? { ...process, state: 'alive' } : process;
  }),
});

const silentThen = (stall: Stall, evidence: Case): number[] =>
  silentAmong(stall.files, backThen(stall, evidence), stall.since).map(({ file }) => file);

export function findGivenUp(evidence: Case): GivenUp[] {
  const found = findUnfinished(evidence).map((stall) => ({ stall, over: givenUpOf(stall, evidence) }));
  const over = found.flatMap((one) => one.over ?? []);
  const along = found.flatMap((one) => (one.over ? [] : (givenUpAlong(one.stall, over, evidence) ?? [])));
  return [...over, ...along];
}

/**
 * What waits for the ranks that another communicator was shrunk without, if all its other ranks went on there. Who shrinks its world leaves
 * its pairs and rings behind, and may make no new ones: a group of one rank that is left needs none.
 */
function givenUpAlong(stall: Stall, over: readonly GivenUp[], evidence: Case): GivenUp | null {
  const { commId } = stall;
  const gone = silentThen(stall, evidence);
  if (commId === null || gone.length === 0) return null;
  const shrunk = over.find(({ stall: other, next }) => {
    const without = silentThen(other, evidence);
    const isThere = (file: number): boolean =>
      ranksInComm(evidence.ranks[file]!, BigInt(next.commId!)).length > 0;
    return (
      next.since > stall.since &&
      gone.every((file) => without.includes(file)) &&
      [...stall.files, ...other.files].every((file) => isThere(file) !== without.includes(file))
    );
  });
  return shrunk ? { stall: { ...stall, commId }, at: shrunk.at, next: shrunk.next } : null;
}

function givenUpOf(stall: Stall, evidence: Case): GivenUp | null {
  const { commId, works, inside, collective } = stall;
  const { ranks } = evidence;
  if (commId === null) return null;
  const entered = [...works, ...inside].map(({ file }) => file);
  const waiting = new Set([...entered, ...(collective?.open ?? []), ...(collective?.aborted ?? [])]);
  const gone = new Set(silentThen(stall, evidence));
  const smaller = smallerThan(stall, gone, evidence);
  const ends = new Map<number, TraceNs>();
  for (const file of waiting) {
    const end = leftAt(commId, ranks[file]!) ?? smaller?.since ?? null;
    if (end !== null) ends.set(file, end);
    else if (!gone.has(file)) return null;
  }
  const nexts = [...ends].flatMap(([file, end]) => smaller ?? workedLater(commId, end, ranks[file]!) ?? []);
  const [next] = nexts.sort((a, b) => a.since - b.since);
  return next ? { stall: { ...stall, commId }, at: maxOf([...ends.values()]) as TraceNs, next } : null;
}

/** A communicator that the rank set up after it had left, or in which it called something after that. */
function workedLater(commId: bigint, left: TraceNs, rank: RankWitness): Successor | null {
  const others = [...rank.communicators.values()].filter(
    (comm) => comm.commId !== commId && comm.commId !== 0n,
  );
  const found = others.flatMap((comm) => {
    const newest = rank.calls.newest(comm.commId)?.at ?? -Infinity;
    if (newest <= left && (comm.init ?? -Infinity) <= left) return [];
    return [successor(comm, Math.max(comm.init ?? left, left) as TraceNs)];
  });
  return found.sort((a, b) => a.since - b.since)[0] ?? null;
}

const successor = ({ commId, name, nRanks }: Communicator<TraceNs>, since: TraceNs): Successor => ({
  commId: hex64(commId),
  comm: name,
  nRanks,
  since,
});

/**
 * A communicator of all ranks of the stall but those that are missing, set up since then, in which work has ended, as far as is recorded. Who
 * gave no sign after it had been set up is missing, too, although it may be too early to call that silence. NCCL reports its size from
 * interface v4 on.
 */
function smallerThan(
  { files, absent, since, nRanks }: Pick<Stall, 'files' | 'absent' | 'since' | 'nRanks'>,
  gone: ReadonlySet<number>,
  { ranks, processes }: Case,
): Successor | null {
  const present = files.filter((file) => !gone.has(file) && !absent.includes(file));
  const candidates = new Map(
    present.flatMap((file) => [...ranks[file]!.communicators.values()].map((comm) => [comm.commId, comm])),
  );
  for (const comm of candidates.values()) {
    const { init } = comm;
    if (init === null || init <= since || (comm.nRanks >= nRanks && nRanks > 0)) continue;
    const own = ranks.flatMap((rank, file) => (ranksInComm(rank, comm.commId).length > 0 ? [file] : []));
    const isThere = (file: number): boolean =>
      own.includes(file) || (processes[file]!.lastSign ?? init) >= init;
    const survivors = present.filter(isThere);
    const isSame = own.length === survivors.length && own.every((file) => survivors.includes(file));
    if (!isSame || survivors.length === files.length) continue;
    const hasMoved = own.every(
      (file) => lastMoveIn(comm.commId, ranks[file]!) > since || ranks[file]!.reach.knownUntil < init,
    );
    if (hasMoved) return successor(comm, init);
  }
  return null;
}

/**
 * Silent ranks without which the others went on, though nothing shows any more what stood: of each of its communicators all others left,
 * or shrank it.
 */
export const leftLongAgo = (evidence: Case, over: readonly GivenUp[]): number[] => {
  const told = new Set(over.flatMap(({ stall }) => silentThen(stall, evidence)));
  return silentFiles(evidence, NO_STALL).flatMap(({ file }) =>
    !told.has(file) && wentOnWithout(file, evidence) ? [file] : [],
  );
};

function wentOnWithout(file: number, evidence: Case): boolean {
  const { ranks, processes } = evidence;
  const since = processes[file]!.lastSign;
  const comms = [...ranks[file]!.communicators.values()].filter(({ nRanks }) => nRanks !== 1);
  if (since === null || comms.length === 0) return false;
  const isLeft = ({ commId, nRanks }: Communicator<TraceNs>): boolean => {
    const files = membersOf(commId, nRanks, ranks);
    const gone = new Set(silentAmong(files, evidence, NO_STALL).map((one) => one.file));
    if (smallerThan({ files, absent: [], since, nRanks }, gone, evidence)) return true;
    const others = files.filter((other) => !gone.has(other)).map((other) => ranks[other]!);
    const ends = others.map((rank) => leftAt(commId, rank));
    return (
      ends.every((end) => end !== null) &&
      others.some((rank, i) => workedLater(commId, ends[i]!, rank) !== null)
    );
  };
  return comms.every(isLeft);
}

/** The evidence without what is over: work that stands there, and silent ranks without which the others went on (`long`: long ago). */
export function withoutGivenUp(evidence: Case, over: readonly GivenUp[], long: readonly number[]): Case {
  const leftBehind = new Set([...over.flatMap(({ stall }) => silentThen(stall, evidence)), ...long]);
  return {
    ...withoutStalls(
      over.map(({ stall }) => stall),
      evidence,
    ),
    leftBehind,
  };
}

/** The evidence without what is unfinished in their communicators. */
export function withoutStalls(stalls: readonly Stall[], evidence: Case): Case {
  const ids = new Set(stalls.flatMap(({ commId }) => commId ?? []));
  if (ids.size === 0) return evidence;
  return {
    ...evidence,
    comms: evidence.comms.map((comm) => (ids.has(comm.commId) ? finishedOf(comm) : comm)),
    ranks: evidence.ranks.map((rank) => withoutComms(rank, ids)),
  };
}

const finishedOf = (comm: ClusterComm): ClusterComm => ({
  ...comm,
  collectives: comm.collectives.filter(
    ({ end, open, aborted }) => end !== null && open.length + aborted.length === 0,
  ),
});

function withoutComms(rank: RankWitness, ids: ReadonlySet<bigint>): RankWitness {
  const isOver = (number: number | null): boolean =>
    number !== null && ids.has(rank.communicators.get(number)?.commId ?? 0n);
  const { works, inside, lastWithoutEnd } = rank.pending;
  return {
    ...rank,
    pending: {
      ...rank.pending,
      works: works.filter(({ comm }) => !isOver(comm)),
      inside: inside.filter(({ comm }) => !isOver(comm)),
      lastWithoutEnd: lastWithoutEnd.filter((number) => !isOver(number)),
    },
    hostCalls: new Map([...rank.hostCalls].filter(([number]) => !isOver(number))),
  };
}
