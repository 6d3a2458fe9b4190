/**
 * Finds the ranks of a process group for which others wait, and the reason. The rank did not call a collective in which others wait. Or it
 * alone did not finish a collective. Or it did not call its half of a pending send or receive. Such a rank may wait itself.
 */

import type { Dump, DumpedCall } from './dump.js';
import { hasFinished, type JoinedGroup } from './joined_calls.js';
import { firstCall, isBehind, nameOf, placesAt, type NamedCollective } from './rank_positions.js';

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

export function blamedIn(group: JoinedGroup, dumps: readonly Dump[]): Culprit[] {
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

/** All ranks called it, and another rank finished it. */
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

/** Peers that list no other half of what this rank sends or receives. */
export const halvesIn = (group: JoinedGroup, dumps: readonly Dump[]): Culprit[] =>
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
export const halvesMissing = (group: JoinedGroup, rank: number, dumps: readonly Dump[]): Transfer[] =>
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

export const isPending = ({ state }: DumpedCall): boolean => state !== 'completed';
