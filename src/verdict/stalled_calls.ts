/** Calls that have not returned. */

import { maxOf, minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { membersOf, SHORTEST_HANG } from './absence.js';
import { behindOthers } from './fewer_calls.js';
import { allLived } from './process_states.js';
import { laterBy, knownUntilOf, lastMoveIn, type Case } from './case.js';
import type { RankWitness } from './file_facts.js';
import { farBeyond, TRANSFER_MAY_TAKE, type Inside, type Stall } from './stall.js';
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
      const group = groups.get(key) ?? { commId, inside: [] };
      group.inside.push({ file, call, hasReturned: false });
      groups.set(key, group);
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
      return !life.isClosed && pace.hasCallsNow && (pace.lastEvent ?? Infinity) <= behind.at + SHORTEST_HANG;
    });
    const ages = behind.ahead.map((file) => ranks[file]!.reach.knownUntil - behind.at);
    return isQuiet && allLived(behind.ahead, evidence, behind.at) ? [{ behind, age: minOf(ages) }] : [];
  });
}

/** Those that stand so long that nobody comes any more. */
export const standingStalls = (evidence: Case, covered: ReadonlyMap<bigint, Stall>): Stall[] =>
  standingCalls(evidence).flatMap(({ behind, age }, i, all): Stall[] => {
    if (all.findIndex((one) => one.behind.commId === behind.commId) < i) return [];
    const { ranks } = evidence;
    const {
      commId: id,
      comm: name,
      nRanks,
      ahead,
      files: absent,
      at,
      record,
      func,
      count,
      datatype,
      root,
    } = behind;
    const commId = BigInt(`0x${id.replace(/^0x/, '')}`);
    const longestBefore = maxOf(ahead.map((file) => ranks[file]!.pace.longestQuiet));
    if (covered.has(commId) || age < farBeyond(longestBefore, evidence)) return [];
    const call = { comm: -1, func, isTransfer: false, count, datatype, root, at, record };
    return [
      {
        ...{ commId, name, nRanks, absent, longestBefore, collective: null, works: [], partlyAbsent: [] },
        files: membersOf(commId, nRanks, ranks),
        inside: ahead.map((file) => ({ file, call, hasReturned: true })),
        since: at,
        until: knownUntilOf(ahead, ranks),
        mayTake: TRANSFER_MAY_TAKE,
      },
    ];
  });
