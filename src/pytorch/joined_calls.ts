/**
 * The dumps of all ranks, put together. For each process group: its collectives by number, and on which ranks each collective is listed,
 * pending or finished. It judges nothing.
 */

import { maxOf } from '../base/extremes.js';
import { callsByGroup, isPending } from './call_ends.js';
import type { Dump, DumpedCall, ProcessGroup } from './dump.js';

/** A collective of a group, as one rank called it; several entries if they are coalesced. */
export interface RankCall {
  readonly rank: number;
  readonly calls: readonly DumpedCall[];
  readonly isPending: boolean;
}

/** The same, while it is made. */
interface RankCalls extends RankCall {
  readonly calls: DumpedCall[];
  isPending: boolean;
}

export interface JoinedGroup extends ProcessGroup {
  /** Its members that left a dump. */
  readonly dumps: readonly Dump[];
  /** Members without one. */
  readonly withoutDump: readonly number[];
  /** Collectives by number, then by rank. */
  readonly collectives: ReadonlyMap<number, ReadonlyMap<number, RankCall>>;
  /** By rank: the first collective that is pending. */
  readonly firstPending: ReadonlyMap<number, number>;
  /** By rank: the last collective that is listed. */
  readonly lastListed: ReadonlyMap<number, number>;
  /** By rank: up to which number a collective that is not listed has finished. */
  readonly finishedTo: ReadonlyMap<number, number>;
  /** By rank that lists nothing of the group: up to which number it may have called something that is no longer listed. */
  readonly maybeCalledTo: ReadonlyMap<number, number>;
}

/** Groups that a process left behind are no part of it. */
export function joinDumps(dumps: readonly Dump[]): JoinedGroup[] {
  const left = new Set(
    dumps.flatMap((dump) => dump.left.filter(({ livesOn }) => !livesOn)).map((one) => groupKey(one)),
  );
  const groups = new Map<string, ProcessGroup>();
  for (const { groups: some } of dumps) for (const group of some) groups.set(groupKey(group), group);
  const indexed = dumps.map((dump) => ({
    dump,
    keys: new Set(dump.groups.map(groupKey)),
    calls: callsByGroup(dump.calls),
    unlisted: unlistedCalls(dump),
  }));
  return [...groups].filter(([key]) => !left.has(key)).map(([, group]) => joined(group, indexed));
}

/** By ranks, which many groups and all dumps may share. */
const joinedRanks = new WeakMap<readonly number[], string>();

export function groupKey({ name, ranks }: ProcessGroup): string {
  const known = joinedRanks.get(ranks) ?? ranks.join(' ');
  joinedRanks.set(ranks, known);
  return `${name} ${known}`;
}

/** A dump, and its calls by group. */
interface IndexedDump {
  readonly dump: Dump;
  readonly keys: ReadonlySet<string>;
  readonly calls: ReadonlyMap<string, readonly DumpedCall[]>;
  /** Up to which number it may have called something of a group of which it lists nothing. */
  readonly unlisted: number;
}

function joined(group: ProcessGroup, all: readonly IndexedDump[]): JoinedGroup {
  const key = groupKey(group);
  const members = new Set(group.ranks);
  const own = all.filter(({ dump, keys }) => keys.has(key) && members.has(dump.rank));
  const dumps = own.map(({ dump }) => dump);
  const collectives = new Map<number, Map<number, RankCalls>>();
  const firstPending = new Map<number, number>();
  const lastListed = new Map<number, number>();
  const finishedTo = new Map<number, number>();
  const maybeCalledTo = new Map<number, number>();
  for (const { dump, calls: byGroup, unlisted } of own) {
    const { rank } = dump;
    const calls = byGroup.get(group.name) ?? [];
    for (const call of calls) {
      if (call.isP2p) continue;
      const { seq } = call;
      const ranks = collectives.get(seq) ?? new Map<number, RankCalls>();
      const ofRank = ranks.get(rank) ?? { rank, calls: [], isPending: false };
      ofRank.calls.push(call);
      ofRank.isPending ||= isPending(call);
      ranks.set(rank, ofRank);
      collectives.set(seq, ranks);
      if (ofRank.isPending) firstPending.set(rank, Math.min(seq, firstPending.get(rank) ?? Infinity));
      else finishedTo.set(rank, Math.max(seq, finishedTo.get(rank) ?? -1));
      lastListed.set(rank, Math.max(seq, lastListed.get(rank) ?? -1));
    }
    finishedTo.set(rank, Math.max(finishedTo.get(rank) ?? -1, finishedByStatus(dump, calls)));
    if (calls.length === 0) maybeCalledTo.set(rank, unlisted);
  }
  const withDump = new Set(dumps.map(({ rank }) => rank));
  const withoutDump = group.ranks.filter((rank) => !withDump.has(rank));
  return {
    ...group,
    ...{ dumps, withoutDump, collectives, firstPending, lastListed, finishedTo, maybeCalledTo },
  };
}

/** Up to which number the group's status says that all is finished. */
function finishedByStatus({ status }: Dump, own: readonly DumpedCall[]): number {
  const [first] = own;
  const found = first && status.get(first.groupId);
  // Calls between two ranks have numbers of their own but count in the same status.
  if (!found || own.some(({ isP2p }) => isP2p)) return -1;
  const last = own.at(-1)!;
  const countsAnyCall = found.enqueued === last.opId && last.opId !== last.seq;
  if (!countsAnyCall) return found.completed;
  return first.opId > found.completed ? first.seq - 1 : -1;
}

/** A status of a group without a listed call: it is not known which group that is. */
const unlistedCalls = ({ status, calls }: Dump): number => {
  const listed = new Set(calls.map(({ groupId }) => groupId));
  return maxOf(
    [...status].flatMap(([id, { enqueued }]) => (listed.has(id) ? [] : [enqueued])),
    -1,
  );
};

/** Whether the rank is known to have finished the collective. */
export function hasFinished(group: JoinedGroup, rank: number, seq: number): boolean {
  const listed = group.collectives.get(seq)?.get(rank);
  return listed ? !listed.isPending : (group.finishedTo.get(rank) ?? -1) >= seq;
}
