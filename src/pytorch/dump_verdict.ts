/**
 * The verdict on dumps alone: which ranks all others wait for, and where ranks called differently. A rank is named only if the dumps show
 * that others wait for it, and that it does not wait itself:
 *
 *   not called    others are in a collective of its group that it never called
 *   not finished  all called a collective, others finished it, and this rank did not: its GPU or its links stopped
 *
 * If no collective shows such a rank, a rank counts that did not call its half of a pending send or receive. That evidence is weaker,
 * because a send may end before its receive does.
 *
 * A rank that did either and waits for another rank is a victim. If all such ranks wait for each other, all are named. Dumps do not say when
 * they were made, so a healthy job that is caught in a collective looks like a hung one.
 */

import type { Dump, DumpedCall } from './dump.js';
import { blamedIn, halvesIn, halvesMissing, isPending, type Culprit } from './blamed.js';
import { waysOf, type DumpedWay } from './compared_calls.js';
import { joinDumps, type JoinedGroup } from './joined_calls.js';
import { firstCall, nameOf, placesAt, type NamedCollective, type Places } from './rank_positions.js';

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

export interface PendingCollective extends NamedCollective, Places {
  readonly withoutDump: readonly number[];
  /** Time of the collective's first call, ns since the Unix epoch. */
  readonly sinceNs: number;
  /** The first call, with its Python stack. */
  readonly call: DumpedCall;
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
  // A rank may be behind in many groups. The group where it began counts.
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

/** The latest among the collectives with the most ranks. */
function mostCommon(seqs: readonly number[]): number {
  const count = (seq: number): number => seqs.filter((one) => one === seq).length;
  return seqs.reduce((best, seq) => ((count(seq) - count(best) || seq - best) > 0 ? seq : best));
}

/** By rank: the ranks for which it waits, in any group or between two ranks. */
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

/** The first collective that ranks of the group called in different ways. */
function mismatchOf(group: JoinedGroup): DumpedMismatch[] {
  for (const seq of [...group.collectives.keys()].sort((a, b) => a - b)) {
    const ways = waysOf(group.collectives.get(seq)!.values());
    const { name, description, ranks } = group;
    if (ways.length > 1) return [{ group: name, description, ranks, seq, ways }];
  }
  return [];
}
