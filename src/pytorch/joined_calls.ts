/**
 * The dumps of all ranks, put together. For each process group: its collectives by number, and on which ranks each collective is listed,
 * pending or finished. It judges nothing.
 */

import type { Dump, DumpedCall, ProcessGroup } from './dump.js';

/** A collective of a group, as one rank called it; several entries if they are coalesced. */
export interface RankCall {
  readonly rank: number;
  readonly calls: readonly DumpedCall[];
  readonly isPending: boolean;
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
}

export function joinDumps(dumps: readonly Dump[]): JoinedGroup[] {
  const groups = new Map<string, ProcessGroup>();
  for (const { groups: some } of dumps) for (const group of some) groups.set(keyOf(group), group);
  return [...groups.values()].map((group) => joined(group, dumps));
}

const keyOf = ({ name, ranks }: ProcessGroup): string => `${name} ${ranks.join(' ')}`;

function joined(group: ProcessGroup, all: readonly Dump[]): JoinedGroup {
  const key = keyOf(group);
  const members = new Set(group.ranks);
  const dumps = all.filter(
    ({ rank, groups }) => members.has(rank) && groups.some((one) => keyOf(one) === key),
  );
  const collectives = new Map<number, Map<number, RankCall>>();
  const firstPending = new Map<number, number>();
  const lastListed = new Map<number, number>();
  for (const { rank, calls } of dumps) {
    for (const call of calls) {
      if (call.group !== group.name || call.isP2p) continue;
      const { seq } = call;
      const ranks = collectives.get(seq) ?? new Map<number, RankCall>();
      const known = ranks.get(rank);
      const isPending = known?.isPending === true || call.state !== 'completed';
      ranks.set(rank, { rank, calls: [...(known?.calls ?? []), call], isPending });
      collectives.set(seq, ranks);
      if (isPending) firstPending.set(rank, Math.min(seq, firstPending.get(rank) ?? Infinity));
      lastListed.set(rank, Math.max(seq, lastListed.get(rank) ?? 0));
    }
  }
  const left = new Set(dumps.map(({ rank }) => rank));
  const withoutDump = group.ranks.filter((rank) => !left.has(rank));
  return { ...group, dumps, withoutDump, collectives, firstPending, lastListed };
}

/**
 * Whether the rank is known to have finished the collective. Either the dump lists it as finished, or it is no longer listed and the
 * group's status counts it.
 */
export function hasFinished(group: JoinedGroup, rank: number, seq: number): boolean {
  const listed = group.collectives.get(seq)?.get(rank);
  if (listed) return !listed.isPending;
  const dump = group.dumps.find((one) => one.rank === rank);
  const calls = dump?.calls.filter((call) => call.group === group.name) ?? [];
  // Calls between two ranks have numbers of their own but count in the same status.
  if (calls.length === 0 || calls.some(({ isP2p }) => isP2p)) return false;
  return (dump!.completed.get(calls[0]!.groupId) ?? -1) >= seq;
}
