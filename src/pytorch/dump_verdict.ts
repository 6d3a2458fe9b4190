/**
 * The verdict on dumps alone: which ranks all others wait for, and where ranks called differently. A rank is named only if the dumps show
 * that others wait for it, and that it does not wait itself:
 *
 *   not called    others are in a collective of its group that it never called
 *   not finished  all called a collective, others finished it, and this rank did not: its GPU or its links stopped
 *
 * If no collective shows such a rank, one counts that did not call its half of a pending send or receive. That is weaker: a send may end
 * before its receive does.
 *
 * A rank that did either and waits for another rank is a victim. If all such ranks wait for each other, all are named. Dumps do not say when
 * they were made, so a healthy job that is caught in a collective looks like a hung one.
 */

import type { Dump, DumpedCall } from './dump.js';
import { functionOf, waysOf, type DumpedWay } from './compared_calls.js';
import { hasFinished, joinDumps, type JoinedGroup } from './joined_calls.js';

export interface DumpVerdict {
  readonly kind: 'hung' | 'mismatch' | 'pending' | 'quiet';
  readonly dumps: number;
  /** Ranks that others wait for. */
  readonly culprits: readonly Culprit[];
  /** Where each group waits, at most MOST_PENDING: first those with a culprit, then in order of time. */
  readonly pending: readonly PendingCollective[];
  /** How many groups wait. */
  readonly pendingGroups: number;
  /** Sends and receives that are pending, on all ranks. */
  readonly pendingTransfers: number;
  readonly mismatches: readonly DumpedMismatch[];
  /** Members of groups in `pending` that left no dump. */
  readonly withoutDump: readonly number[];
}

export interface NamedCollective {
  readonly group: string;
  readonly description: string;
  /** Ranks of the job in it. */
  readonly ranks: readonly number[];
  /** PyTorch's number of it in the group. */
  readonly seq: number;
  readonly op: string;
}

export interface PendingCollective extends NamedCollective {
  /** Ranks that called it and have not finished. */
  readonly waiting: readonly number[];
  readonly finished: readonly number[];
  /** Ranks with a dump that have not come so far. */
  readonly behind: readonly number[];
  readonly withoutDump: readonly number[];
  /** The first call of it, ns since the Unix epoch. */
  readonly sinceNs: number;
  /** Of that call, with its Python stack. */
  readonly call: DumpedCall;
}

export interface Culprit extends NamedCollective {
  readonly rank: number;
  readonly why: 'not called' | 'not finished';
  /** Ranks that wait for it there. */
  readonly waiting: readonly number[];
  /** When the first rank called it, ns since the Unix epoch. */
  readonly sinceNs: number;
  /** Its newest call on any group; null: the dump lists none. */
  readonly last: DumpedCall | null;
}

export interface DumpedMismatch extends Omit<NamedCollective, 'op'> {
  readonly ways: readonly DumpedWay[];
}

const MOST_PENDING = 50;

export function judgeDumps(dumps: readonly Dump[]): DumpVerdict {
  const groups = joinDumps(dumps);
  const pending = groups.flatMap(pendingOf).sort((a, b) => a.sinceNs - b.sinceNs);
  const mismatches = groups.flatMap(mismatchOf);
  const blamed = groups.flatMap((group) => blamedIn(group, dumps));
  const waitsFor = waitsOf(groups, dumps);
  const waitsForNobody = ({ rank }: Culprit): boolean => (waitsFor.get(rank)?.size ?? 0) === 0;
  const roots = blamed.filter(waitsForNobody);
  const halves =
    roots.length > 0 ? roots : groups.flatMap((group) => halvesIn(group, dumps)).filter(waitsForNobody);
  const named = halves.length > 0 ? halves : blamed;
  const transfers = dumps.flatMap(({ calls }) => calls.filter((call) => call.isP2p && isPending(call)));
  // A rank is behind in many groups: where it began counts.
  const latestFirst = named.toSorted((a, b) => b.sinceNs - a.sinceNs);
  const culprits = [...new Map(latestFirst.map((one) => [one.rank, one])).values()];
  const isBlamed = new Set(culprits.map(({ rank }) => rank));
  const culpritsIn = ({ behind }: PendingCollective): number =>
    behind.filter((rank) => isBlamed.has(rank)).length;
  return {
    kind:
      mismatches.length > 0
        ? 'mismatch'
        : culprits.length > 0
          ? 'hung'
          : pending.length + transfers.length > 0
            ? 'pending'
            : 'quiet',
    dumps: dumps.length,
    culprits: culprits.sort((a, b) => a.rank - b.rank),
    pending: pending.toSorted((a, b) => culpritsIn(b) - culpritsIn(a)).slice(0, MOST_PENDING),
    pendingGroups: pending.length,
    pendingTransfers: transfers.length,
    mismatches,
    withoutDump: [...new Set(pending.flatMap((one) => one.withoutDump))].sort((a, b) => a - b),
  };
}

/** The collective at which most of the group's ranks wait. */
function pendingOf(group: JoinedGroup): PendingCollective[] {
  const seqs = [...group.firstPending.values()];
  if (seqs.length === 0) return [];
  const seq = mostCommon(seqs);
  const { waiting, finished, behind } = placesAt(group, seq);
  const call = firstCall(group, seq, waiting);
  const { withoutDump } = group;
  return [
    { ...nameOf(group, seq, call), waiting, finished, behind, withoutDump, sinceNs: call.createdNs, call },
  ];
}

/** The earliest call among the ranks that wait in the collective. */
const firstCall = (group: JoinedGroup, seq: number, waiting: readonly number[]): DumpedCall =>
  waiting
    .map((rank) => group.collectives.get(seq)!.get(rank)!.calls[0]!)
    .reduce((first, one) => (one.createdNs < first.createdNs ? one : first));

/** The latest of those that most ranks are in. */
function mostCommon(seqs: readonly number[]): number {
  const count = (seq: number): number => seqs.filter((one) => one === seq).length;
  return seqs.reduce((best, seq) => ((count(seq) - count(best) || seq - best) > 0 ? seq : best));
}

const nameOf = (
  { name, description, ranks }: JoinedGroup,
  seq: number,
  call: DumpedCall,
): NamedCollective => ({
  group: name,
  description,
  ranks,
  seq,
  op: functionOf(call),
});

/** Where the ranks with a dump are, as seen from one collective. */
function placesAt(
  group: JoinedGroup,
  seq: number,
): Pick<PendingCollective, 'waiting' | 'finished' | 'behind'> {
  const waiting: number[] = [];
  const finished: number[] = [];
  const behind: number[] = [];
  for (const { rank } of group.dumps) {
    if (hasFinished(group, rank, seq)) finished.push(rank);
    else if (isBehind(group, rank, seq)) behind.push(rank);
    else if (group.collectives.get(seq)?.has(rank)) waiting.push(rank);
  }
  return { waiting, finished, behind };
}

/** It is still in an earlier collective of the group, or never called this one. */
function isBehind(group: JoinedGroup, rank: number, seq: number): boolean {
  const pending = group.firstPending.get(rank);
  if (pending !== undefined) return pending < seq;
  return (group.lastListed.get(rank) ?? 0) < seq && !mayFinishAlone(group, seq);
}

/** A root may leave these before the others come: a rank that does not list one has perhaps finished it. */
const mayFinishAlone = (group: JoinedGroup, seq: number): boolean =>
  [...(group.collectives.get(seq)?.values() ?? [])].some(({ calls }) =>
    calls.some((call) => ['broadcast', 'reduce', 'gather', 'scatter'].includes(functionOf(call))),
  );

function blamedIn(group: JoinedGroup, dumps: readonly Dump[]): Culprit[] {
  const blamed: Culprit[] = [];
  const lastOf = (rank: number): DumpedCall | null =>
    dumps.find((one) => one.rank === rank)?.calls.at(-1) ?? null;
  for (const { rank } of group.dumps) {
    const own = group.firstPending.get(rank);
    if (own !== undefined && isStuckAlone(group, rank, own)) {
      const { calls } = group.collectives.get(own)!.get(rank)!;
      const waiting = ranksAfter(group, own);
      const [call] = calls as [DumpedCall];
      blamed.push({
        ...nameOf(group, own, call),
        ...{ rank, why: 'not finished', waiting, sinceNs: call.createdNs, last: lastOf(rank) },
      });
      continue;
    }
    const missed = own === undefined ? firstMissed(group, rank) : null;
    if (missed === null) continue;
    const { waiting } = placesAt(group, missed);
    const call = firstCall(group, missed, waiting);
    blamed.push({
      ...nameOf(group, missed, call),
      ...{ rank, why: 'not called', waiting, sinceNs: call.createdNs, last: lastOf(rank) },
    });
  }
  return blamed;
}

/** Everybody called it, and another rank finished it. */
function isStuckAlone(group: JoinedGroup, rank: number, seq: number): boolean {
  const others = group.ranks.filter((one) => one !== rank);
  const called = (one: number): boolean =>
    group.collectives.get(seq)?.has(one) === true || hasFinished(group, one, seq);
  return others.every(called) && others.some((one) => hasFinished(group, one, seq));
}

const ranksAfter = (group: JoinedGroup, seq: number): number[] =>
  [...group.firstPending].filter(([, own]) => own > seq).map(([rank]) => rank);

/** The first collective in which others wait and which this rank did not call; null: none. */
function firstMissed(group: JoinedGroup, rank: number): number | null {
  const seqs = [...new Set(group.firstPending.values())].sort((a, b) => a - b);
  return seqs.find((seq) => !hasFinished(group, rank, seq) && isBehind(group, rank, seq)) ?? null;
}

/** By rank: whom it waits for, in any group or between two ranks. */
function waitsOf(groups: readonly JoinedGroup[], dumps: readonly Dump[]): Map<number, Set<number>> {
  const waits = new Map<number, Set<number>>();
  const add = (rank: number, others: readonly number[]): void => {
    const known = waits.get(rank) ?? new Set<number>();
    for (const other of others) if (other !== rank) known.add(other);
    waits.set(rank, known);
  };
  for (const group of groups) {
    for (const [rank, seq] of group.firstPending) add(rank, placesAt(group, seq).behind);
    for (const { rank } of group.dumps)
      add(
        rank,
        halvesMissing(group, rank, dumps).map(({ peer }) => peer),
      );
  }
  return waits;
}

/** Peers that list no other half of what this rank sends or receives. */
const halvesIn = (group: JoinedGroup, dumps: readonly Dump[]): Culprit[] =>
  group.dumps.flatMap((dump) =>
    halvesMissing(group, dump.rank, dumps).map(({ peer, call }) => ({
      ...nameOf(group, call.seq, call),
      ...({
        op: call.op,
        rank: peer,
        why: 'not called',
        waiting: [dump.rank],
        sinceNs: call.createdNs,
      } as const),
      last: dumps.find(({ rank }) => rank === peer)?.calls.at(-1) ?? null,
    })),
  );

interface Transfer {
  readonly isSend: boolean;
  readonly peer: number;
  readonly call: DumpedCall;
}

/** Pending sends and receives of the rank without the other half. */
const halvesMissing = (group: JoinedGroup, rank: number, dumps: readonly Dump[]): Transfer[] =>
  transfersOf(group, rank, dumps).filter(
    ({ isSend, peer }) =>
      group.dumps.some((one) => one.rank === peer) &&
      !transfersOf(group, peer, dumps).some((one) => one.isSend !== isSend && one.peer === rank),
  );

/** Pending "send 0->3" and "recv 3<-0": the numbers are ranks in the group, its own first. */
function transfersOf({ name, ranks }: JoinedGroup, rank: number, dumps: readonly Dump[]): Transfer[] {
  const calls = dumps.find((one) => one.rank === rank)?.calls ?? [];
  return calls.flatMap((call) => {
    const [, word, other] = /^(send|recv) \d+(?:->|<-)(\d+)$/.exec(call.op) ?? [];
    const peer = ranks[Number(other)];
    if (call.group !== name || !call.isP2p || !isPending(call) || peer === undefined) return [];
    return [{ isSend: word === 'send', peer, call }];
  });
}

const isPending = ({ state }: DumpedCall): boolean => state !== 'completed';

/** The first collective that ranks of the group called in different ways. */
function mismatchOf(group: JoinedGroup): DumpedMismatch[] {
  for (const seq of [...group.collectives.keys()].sort((a, b) => a - b)) {
    const ways = waysOf(group.collectives.get(seq)!.values());
    const { name, description, ranks } = group;
    if (ways.length > 1) return [{ group: name, description, ranks, seq, ways }];
  }
  return [];
}
