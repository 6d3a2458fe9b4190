/** Calls that have not returned. */

import { entryOf } from '../base/grouped.js';
import { maxOf, minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { membersOf, SHORTEST_HANG } from './absence.js';
import { behindOthers } from './fewer_calls.js';
import { allLived } from './process_states.js';
import { commOf, laterBy, knownUntilOf, lastMoveIn, type Case } from './case.js';
import type { RankWitness } from './file_facts.js';
import { waitingFor } from './root_stall.js';
import { ageOf, farBeyond, TRANSFER_MAY_TAKE, type Inside, type Stall } from './stall.js';
import type { Behind } from './types.js';
import { longestIn } from './stalled_collective.js';

/**
 * Calls that have not returned, by communicator. NCCL connects in the first call and waits for its peers. Sends and receives are separate
 * from collectives, because a rank in one kind has passed or left out the other kind. A stuck collective of the communicator is the reason
 * and comes first.
 */
export function insideStalls(evidence: Case, covered: ReadonlyMap<bigint, Stall>): Stall[] {
  const { ranks } = evidence;
  const groups = new Map<string, { commId: bigint; inside: Inside[] }>();
  ranks.forEach(({ pending, communicators }, file) => {
    for (const call of pending.inside) {
      const commId = communicators.get(call.comm)?.commId ?? 0n;
      if (commId === 0n || covered.has(commId)) continue;
      const key = `${commId} ${call.isTransfer}`;
      entryOf(groups, key, () => ({ commId, inside: [] })).inside.push({ file, call, hasReturned: false });
    }
  });
  return [...groups.values()].map(({ commId, inside }) => insideStall(commId, inside, evidence));
}

function insideStall(commId: bigint, inside: readonly Inside[], evidence: Case): Stall {
  const { ranks, comms } = evidence;
  const [first] = inside as [Inside];
  const { name, nRanks } = ranks[first.file]!.communicators.get(first.call.comm)!;
  const files = membersOf(commId, nRanks, ranks);
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
 * For a collective: the ranks that certainly called less. The peer of a send or receive is not known. So for these: the only live rank
 * outside, or a rank that certainly never began any.
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
        laterBy([file, ranks[file]!.reach.knownUntil], [other, call.at], evidence) >= SHORTEST_HANG,
    );
  const outside = files.filter((file) => !within.has(file) && !ranks[file]!.life.isClosed && livedOn(file));
  const never = outside.filter((file) => neverTransferred(ranks[file]!, commId));
  return [outside, never].find(({ length }) => length === 1) ?? [];
}

const neverTransferred = ({ calls, reach }: RankWitness, commId: bigint): boolean =>
  !reach.isPartial && Number.isFinite(reach.knownFrom) && !calls.hasTransfers(commId);

/** Ranks that made a call which others did not make, and nothing since, while the job goes on. NCCL reports no work of the call. */
export function standingCalls(evidence: Case): { readonly behind: Behind; readonly age: number }[] {
  const { ranks } = evidence;
  return behindOthers(evidence).flatMap((behind) => {
    const isQuiet = behind.ahead.every((file) => {
      const { life, pace } = ranks[file]!;
      const isOver = (pace.lastEvent ?? Infinity) <= behind.newest + SHORTEST_HANG;
      return !life.isClosed && pace.hasCallsNow && isOver && !isSeenIn(behind, ranks[file]!);
    });
    const ages = behind.ahead.map((file) => ranks[file]!.reach.knownUntil - behind.newest);
    return isQuiet && allLived(behind.ahead, evidence, behind.newest) ? [{ behind, age: minOf(ages) }] : [];
  });
}

/** Work that it has not finished there, or a call that has not returned, shows more than this call. */
const isSeenIn = ({ commId }: Behind, rank: RankWitness): boolean =>
  rank.pending.inside.length > 0 ||
  rank.pending.works.some((work) => hex64(commOf(rank, work)?.commId ?? 0n) === commId);

/** Those that stand so long that nobody comes any more, and those without which one of `others` would go on. */
export const standingStalls = (
  evidence: Case,
  covered: ReadonlyMap<bigint, Stall>,
  others: readonly Stall[],
): Stall[] => {
  const { ranks } = evidence;
  const long = others.filter((stall) => ageOf(stall, ranks) >= SHORTEST_HANG);
  return standingCalls(evidence).flatMap(({ behind, age }, i, all): Stall[] => {
    if (all.findIndex((one) => one.behind.commId === behind.commId) < i) return [];
    const stall = standingStall(behind, evidence);
    if (covered.has(stall.commId)) return [];
    const isWaitedFor = waitingFor(stall, long, ranks).size > 0;
    return isWaitedFor || age >= farBeyond(stall.longestBefore, evidence) ? [stall] : [];
  });
};

function standingStall(behind: Behind, { ranks }: Case): Stall & { readonly commId: bigint } {
  const { comm: name, nRanks, ahead, files: absent, at, record, func, count, datatype, root } = behind;
  const commId = BigInt(`0x${behind.commId.replace(/^0x/, '')}`);
  const call = { comm: -1, func, isTransfer: false, count, datatype, root, at, record };
  return {
    ...{ commId, name, nRanks, absent, collective: null, works: [], partlyAbsent: [] },
    files: membersOf(commId, nRanks, ranks),
    inside: ahead.map((file) => ({ file, call, hasReturned: true })),
    since: behind.newest,
    until: knownUntilOf(ahead, ranks),
    mayTake: TRANSFER_MAY_TAKE,
    longestBefore: maxOf(ahead.map((file) => ranks[file]!.pace.longestQuiet)),
  };
}
