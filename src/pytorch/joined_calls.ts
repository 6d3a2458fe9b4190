/**
 * The dumps of all ranks, put together. For each process group: up to where each rank called and finished its collectives, and in which
 * ones the ranks differ. A collective's calls are looked up where a rule asks for them. It judges nothing.
 */

import { maxOf } from '../base/extremes.js';
import { addTo, entryOf } from '../base/grouped.js';
import { completedTo } from './call_ends.js';
import { functionOf, wayOf, type RankCall } from './compared_calls.js';
import type { Dump, ProcessGroup } from './dump.js';

/** A dump, and which of its calls are on the group, in order. */
export interface Member {
  readonly dump: Dump;
  readonly rows: readonly number[];
}

export interface JoinedGroup extends ProcessGroup {
  /** Its members that left a dump, by rank. */
  readonly members: ReadonlyMap<number, Member>;
  /** Members without one. */
  readonly withoutDump: readonly number[];
  readonly hasP2p: boolean;
  /** Numbers of the collectives that the ranks called in different ways, in order. */
  readonly differing: readonly number[];
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
  const groups = new Map<string, { group: ProcessGroup; members: Map<number, Member> }>();
  for (const dump of dumps) {
    const rows = new Map<string, number[]>();
    dump.calls.kinds.forEach(({ group }, row) => {
      addTo(rows, group, row);
    });
    for (const group of dump.groups) {
      const known = entryOf(groups, groupKey(group), () => ({ group, members: new Map() }));
      if (group.ranks.includes(dump.rank))
        known.members.set(dump.rank, { dump, rows: rows.get(group.name) ?? [] });
    }
  }
  return [...groups].flatMap(([key, { group, members }]) => (left.has(key) ? [] : joined(group, members)));
}

/** By ranks, which many groups and all dumps may share. */
const joinedRanks = new WeakMap<readonly number[], string>();

export function groupKey({ name, ranks }: ProcessGroup): string {
  const known = joinedRanks.get(ranks) ?? ranks.join(' ');
  joinedRanks.set(ranks, known);
  return `${name} ${known}`;
}

function joined(group: ProcessGroup, members: ReadonlyMap<number, Member>): JoinedGroup {
  const ways = new Map<number, string>();
  const differing = new Set<number>();
  const firstPending = new Map<number, number>();
  const lastListed = new Map<number, number>();
  const finishedTo = new Map<number, number>();
  const maybeCalledTo = new Map<number, number>();
  let hasP2p = false;
  for (const [rank, { dump, rows }] of members) {
    const { calls, status } = dump;
    const { seq: seqs } = calls.numbers;
    let isAnyP2p = false;
    let [pending, listed, finished] = [Infinity, -1, -1];
    for (let i = 0; i < rows.length;) {
      const [row, seq] = [rows[i]!, seqs[rows[i]!]!];
      const kind = calls.kinds[row]!;
      let [way, isOpen] = [wayOf(kind), calls.isPending(row)];
      isAnyP2p ||= kind.isP2p;
      i++;
      if (kind.isP2p) continue;
      const from = i;
      for (; i < rows.length && seqs[rows[i]!] === seq && !calls.kinds[rows[i]!]!.isP2p; i++) {
        way = `${from === i ? functionOf(kind) : way} + ${functionOf(calls.kinds[rows[i]!]!)}`;
        isOpen ||= calls.isPending(rows[i]!);
      }
      if (ways.has(seq) && ways.get(seq) !== way) differing.add(seq);
      ways.set(seq, way);
      if (isOpen) pending = Math.min(pending, seq);
      else finished = Math.max(finished, seq);
      listed = Math.max(listed, seq);
    }
    if (pending < Infinity) firstPending.set(rank, pending);
    if (listed >= 0) lastListed.set(rank, listed);
    const [first, last] = [
      calls.at(rows[0] ?? -calls.length - 1),
      calls.at(rows.at(-1) ?? -calls.length - 1),
    ];
    const to = completedTo(first && status.get(first.groupId), isAnyP2p ? null : (last ?? null));
    const before = to?.isOpId ? (first!.opId > to.last ? first!.seq - 1 : -1) : (to?.last ?? -1);
    finishedTo.set(rank, Math.max(finished, before));
    if (rows.length === 0) maybeCalledTo.set(rank, unlistedCalls(dump));
    hasP2p ||= isAnyP2p;
  }
  return {
    ...group,
    ...{ members, hasP2p, firstPending, lastListed, finishedTo, maybeCalledTo },
    withoutDump: group.ranks.filter((rank) => !members.has(rank)),
    differing: [...differing].sort((a, b) => a - b),
  };
}

/** The ranks' calls of one collective. */
export function callsOf({ members }: JoinedGroup, seq: number): Map<number, RankCall> {
  const found = new Map<number, RankCall>();
  for (const [rank, { dump, rows }] of members) {
    const { seq: seqs } = dump.calls.numbers;
    const own = rows.filter((row) => seqs[row] === seq && !dump.calls.kinds[row]!.isP2p);
    const calls = own.map((row) => dump.calls.at(row)!);
    if (own.length > 0)
      found.set(rank, { rank, calls, isPending: own.some((row) => dump.calls.isPending(row)) });
  }
  return found;
}

/** A status of a group without a listed call: it is not known which group that is. */
function unlistedCalls({ status, calls }: Dump): number {
  const listed = new Set(calls.kinds.map(({ groupId }) => groupId));
  return maxOf(
    [...status].flatMap(([id, { enqueued }]) => (listed.has(id) ? [] : [enqueued])),
    -1,
  );
}
