/** Where the ranks of a process group are, relative to one of its collectives: inside it, after it, or before it. It judges nothing. */

import type { CallKind, DumpedCall } from './calls.js';
import { functionOf } from './compared_calls.js';
import { callsOf, type JoinedGroup } from './joined_calls.js';

export interface NamedCollective {
  readonly group: string;
  readonly description: string;
  /** Ranks of the job in it. */
  readonly ranks: readonly number[];
  /** PyTorch's number of it in the group. */
  readonly seq: number;
  readonly op: string;
}

/** A collective in which ranks wait, and where the ranks with a dump are. */
export interface Place {
  readonly group: JoinedGroup;
  readonly seq: number;
  /** The earliest call among the ranks that wait. */
  readonly first: DumpedCall;
  /** These ranks called it and have not finished. */
  readonly waiting: readonly number[];
  /** Those of them whose GPU has begun. */
  readonly started: readonly number[];
  /** Those of them on which an abort ended it. */
  readonly aborted: readonly number[];
  readonly finished: readonly number[];
  /** These ranks have not reached it. */
  readonly behind: readonly number[];
  /** These ranks do not list it. They may have finished it, or never called it. */
  readonly notListed: readonly number[];
}

export const nameOf = (
  { name, description, ranks }: JoinedGroup,
  seq: number,
  call: DumpedCall,
): NamedCollective => ({
  group: name,
  description,
  ranks,
  seq,
  op: call.isP2p ? call.op : functionOf(call),
});

export const earliest = (calls: readonly DumpedCall[]): DumpedCall =>
  calls.reduce((first, one) => (one.createdNs < first.createdNs ? one : first));

/** Where a group waits, in order of number. */
export const placesIn = (group: JoinedGroup): Place[] =>
  [...new Set(group.firstPending.values())].sort((a, b) => a - b).map((seq) => placeAt(group, seq));

function placeAt(group: JoinedGroup, seq: number): Place {
  const calls = callsOf(group, seq);
  const ranks = [...group.members.keys()].sort((a, b) => a - b);
  // A root may leave these functions before the others come. So a rank that does not list one may have finished it.
  const isOneSidedHere = [...calls.values()].some((one) => one.calls.some(isOneSided));
  const isFinished = (rank: number): boolean => {
    const listed = calls.get(rank);
    return listed ? !listed.isPending : (group.finishedTo.get(rank) ?? -1) >= seq;
  };
  const finished = ranks.filter(isFinished);
  const behind = ranks.filter(
    (rank) => !finished.includes(rank) && isBehind(group, rank, seq, isOneSidedHere),
  );
  const waiting = ranks.filter((rank) => group.firstPending.get(rank) === seq);
  const gone = new Set([...finished, ...behind, ...waiting]);
  const own = (rank: number): readonly DumpedCall[] => calls.get(rank)!.calls;
  return {
    ...{ group, seq, waiting, finished, behind },
    first: earliest(waiting.map((rank) => own(rank)[0]!)),
    started: waiting.filter((rank) => own(rank).some(({ state }) => state !== 'scheduled')),
    aborted: waiting.filter((rank) => own(rank).some(({ end }) => end === 'given up')),
    notListed: ranks.filter((rank) => !gone.has(rank)),
  };
}

/** It is still in an earlier collective of the group, or never called this one. */
function isBehind(group: JoinedGroup, rank: number, seq: number, isOneSidedHere: boolean): boolean {
  const pending = group.firstPending.get(rank);
  if (pending !== undefined) return pending < seq;
  const called = group.lastListed.get(rank) ?? group.maybeCalledTo.get(rank) ?? -1;
  return called < seq && (!isOneSidedHere || neverUsed(group, rank));
}

/** A dump that lost no call lists none of the group, and its status knows no group that it does not list. */
function neverUsed({ members, maybeCalledTo }: JoinedGroup, rank: number): boolean {
  const { dump } = members.get(rank)!;
  return dump.calls.numbers.record[0] === 0 && maybeCalledTo.get(rank) === -1;
}

export const isOneSided = (call: Pick<CallKind, 'op'>): boolean =>
  ['broadcast', 'reduce', 'gather', 'scatter'].includes(functionOf(call));
