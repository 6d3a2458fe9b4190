/**
 * What the dumps show, one rule per function, in the order of the headline: what is certain before what is possible, a cause before those
 * who wait for it. A rank is named only if the dumps show that others wait for it, and that it does not wait itself. A rank that others wait
 * for and that waits itself is a victim. If nothing else stands, the ranks that wait for each other in a circle are named.
 */

import { minOf } from '../base/extremes.js';
import { isPending } from './call_ends.js';
import { functionOf, waysOf, type DumpedWay } from './compared_calls.js';
import type { Dump, DumpedCall } from './dump.js';
import { hasFinished, type JoinedGroup } from './joined_calls.js';
import { firstCall, isBehind, isOneSided, nameOf, placesAt, type NamedCollective } from './rank_positions.js';
import { sizeOf, type Transfer } from './transfers.js';

export interface DumpFinding extends NamedCollective {
  readonly rule:
    | 'called differently'
    | 'sizes differ'
    | 'not finished'
    | 'not called'
    | 'not started'
    | 'half not called'
    | 'circle'
    | 'no dump'
    | 'pending';
  readonly kind: 'mismatch' | 'hung' | 'pending';
  /** Where to look. `last`: for a circle the call in which the rank waits, else its newest call; null: the dump lists none. */
  readonly named: readonly { readonly rank: number; readonly last: DumpedCall | null }[];
  /** Ranks that wait for them there. */
  readonly waiting: readonly number[];
  /** When the first of these called it, ns since the Unix epoch. */
  readonly sinceNs: number;
  /** How the ranks called it, where that is what is wrong. */
  readonly ways: readonly DumpedWay[];
}

export interface DumpFacts {
  readonly dumps: readonly Dump[];
  readonly groups: readonly JoinedGroup[];
  /** Those that are pending. */
  readonly transfers: readonly Transfer[];
  /** By rank: the ranks for which it waits, in any group or between two ranks. If nobody else is missing: those without a dump. */
  readonly waitsFor: ReadonlyMap<number, ReadonlySet<number>>;
}

/** `stronger`: what the rules before it found. */
type Rule = (facts: DumpFacts, stronger: readonly DumpFinding[]) => readonly DumpFinding[];

const calledDifferently: Rule = ({ groups }) => groups.flatMap((group) => differing(group, true));

const sizesDiffer: Rule = ({ transfers }) =>
  transfers.flatMap(({ group, rank, peer, isSend, call, other, isSure }) => {
    if (!isSend || !isSure || other === null) return [];
    const ways = [
      { op: call.op, ...sizeOf(call, true), ranks: [rank] },
      { op: other.op, ...sizeOf(other, false), ranks: [peer] },
    ];
    if (ways[0]!.bytes === ways[1]!.bytes) return [];
    const named = [
      { rank, last: call },
      { rank: peer, last: other },
    ];
    return [finding('sizes differ', 'mismatch', nameOf(group, call.seq, call), { named, ways, since: call })];
  });

const notFinished: Rule = (facts) => roots(facts, stuckAlone(facts));

const notCalled: Rule = (facts, stronger) => {
  const named = new Set(stronger.flatMap((one) => one.named.map(({ rank }) => rank)));
  return roots(facts, missed(facts), named);
};

/** All called it, no rank finished it, and only the GPUs of some have begun: the others' GPUs or hosts are busy elsewhere. */
const notStarted: Rule = ({ dumps, groups, waitsFor }) =>
  groups.flatMap((group) =>
    [...new Set(group.firstPending.values())].flatMap((seq) => {
      const { waiting, started, finished, behind, notListed } = placesAt(group, seq);
      const late = waiting.filter((rank) => !started.includes(rank));
      if (finished.length + behind.length + notListed.length > 0 || late.length > started.length) return [];
      const call = late.length > 0 ? firstCall(group, seq, waiting) : null;
      const isIdle = (rank: number): boolean => {
        const { calls } = dumps.find((one) => one.rank === rank)!;
        // A recorder without timing never says "started".
        const tells = calls.every(({ state, startedNs }) => state !== 'completed' || startedNs > 0);
        const first = calls.find(isPending);
        return tells && first?.group === group.name && first.seq === seq && !waitsFor.get(rank)?.size;
      };
      if (call === null || !late.every(isIdle)) return [];
      const named = late.map((rank) => newest(dumps, rank));
      return [
        finding('not started', 'hung', nameOf(group, seq, call), { named, waiting: started, since: call }),
      ];
    }),
  );

/** Weaker than a collective, because a send may end before its receive does. */
const halfNotCalled: Rule = (facts, stronger) =>
  stronger.length > 0 ? [] : roots(facts, halvesMissing(facts));

/**
 * A rank that left out a call waits where the others come after it. So other ranks show which call comes first. If none does, the place
 * where fewest ranks are missing counts. If several places are alike, all ranks of the circle are named.
 */
const circle: Rule = (facts, stronger) => {
  if (stronger.length > 0) return [];
  const all = [...stuckAlone(facts), ...missed(facts), ...halvesMissing(facts)]
    .map((one) => ({
      ...one,
      named: one.named.filter(({ rank }) => reachable(facts.waitsFor, rank).has(rank)),
    }))
    .filter(({ named }) => named.length > 0)
    .sort((a, b) => a.sinceNs - b.sinceNs);
  const skipped = all.filter((one) => one.named.every(({ rank }) => comesFirst(one, rank, facts)));
  const fewest = minOf(all.map(({ named }) => named.length));
  const likely = skipped.length > 0 ? skipped : all.filter(({ named }) => named.length === fewest);
  const ranks = new Set(likely.flatMap(({ named }) => named.map(({ rank }) => rank)));
  const [first] = likely;
  if (!first || skipped.length > 0 || ranks.size === first.named.length) return likely.slice(0, 1);
  const named = [...ranks]
    .sort((a, b) => a - b)
    .map((rank) => ({ rank, last: firstOpen(facts, rank) ?? null }));
  return [{ ...first, rule: 'circle', named, waiting: [] }];
};

const firstOpen = ({ dumps }: DumpFacts, rank: number): DumpedCall | undefined =>
  dumps.find((one) => one.rank === rank)?.calls.find(isPending);

/** On another rank it came before the call in which this rank waits, in the same group or in one of its kind. */
function comesFirst({ seq, op, description }: DumpFinding, rank: number, facts: DumpFacts): boolean {
  const open = firstOpen(facts, rank);
  if (!open || open.isP2p) return false;
  const next = { ...open, op: functionOf(open) };
  const find = (calls: readonly DumpedCall[], wanted: Pick<DumpedCall, 'seq' | 'op' | 'description'>) =>
    calls.find(
      (call) =>
        call.seq === wanted.seq && call.description === wanted.description && functionOf(call) === wanted.op,
    )?.record ?? Infinity;
  return facts.dumps.some(({ rank: other, calls }) => {
    const [missing, then] = [find(calls, { seq, op, description }), find(calls, next)];
    return other !== rank && missing < then && then < Infinity;
  });
}

/** Nobody with a dump is missing, but there are ranks without a dump. */
const noDump: Rule = (facts, stronger) =>
  stronger.length > 0
    ? []
    : whereTheyWait(facts).flatMap((one) => {
        const named = one.without.map((rank) => ({ rank, last: null }));
        return named.length > 0 ? [{ ...one.finding, rule: 'no dump' as const, named }] : [];
      });

const stillPending: Rule = (facts, stronger) =>
  stronger.length > 0 ? [] : whereTheyWait(facts).map((one) => one.finding);

/** Calls that differ but ended do not stop a job. They are said if nothing else is. */
const endedDifferently: Rule = ({ groups }, stronger) =>
  stronger.length > 0 ? [] : groups.flatMap((group) => differing(group, false));

export const RULES: readonly Rule[] = [
  calledDifferently,
  sizesDiffer,
  notFinished,
  notCalled,
  notStarted,
  halfNotCalled,
  circle,
  noDump,
  stillPending,
  endedDifferently,
];

interface Details {
  readonly named?: DumpFinding['named'];
  readonly waiting?: readonly number[];
  readonly ways?: readonly DumpedWay[];
  readonly since: DumpedCall;
}

const finding = (
  rule: DumpFinding['rule'],
  kind: DumpFinding['kind'],
  where: NamedCollective,
  { named = [], waiting = [], ways = [], since }: Details,
): DumpFinding => ({ ...where, rule, kind, named, waiting, ways, sinceNs: since.createdNs });

const newest = (dumps: readonly Dump[], rank: number): DumpFinding['named'][number] => ({
  rank,
  last: dumps.find((one) => one.rank === rank)?.calls.at(-1) ?? null,
});

/** Without the ranks that wait themselves. A rank may be behind in many groups. The one where it began counts. */
function roots(
  { waitsFor }: DumpFacts,
  found: readonly DumpFinding[],
  known: ReadonlySet<number> = new Set(),
): DumpFinding[] {
  const seen = new Set(known);
  return found
    .toSorted((a, b) => a.sinceNs - b.sinceNs)
    .flatMap((one) => {
      const named = one.named.filter(({ rank }) => !seen.has(rank) && !waitsFor.get(rank)?.size);
      for (const { rank } of named) seen.add(rank);
      return named.length > 0 ? [{ ...one, named }] : [];
    });
}

/** The first collective that ranks of the group called in different ways, of those that are pending or of those that ended. */
function differing(group: JoinedGroup, isOpen: boolean): DumpFinding[] {
  for (const seq of [...group.collectives.keys()].sort((a, b) => a - b)) {
    const calls = [...group.collectives.get(seq)!.values()];
    if (calls.some((one) => one.isPending) !== isOpen) continue;
    const ways = waysOf(calls);
    const [most, second, ...rest] = ways;
    if (!second) continue;
    const isMinority = most!.ranks.length > second.ranks.length;
    const odd = (isMinority ? [second, ...rest] : ways).flatMap(({ ranks }) => ranks);
    const named = odd.map((rank) => ({ rank, last: group.collectives.get(seq)!.get(rank)!.calls[0]! }));
    const since = firstCall(
      group,
      seq,
      calls.map(({ rank }) => rank),
    );
    return [finding('called differently', 'mismatch', nameOf(group, seq, since), { named, ways, since })];
  }
  return [];
}

/** All ranks called it, most finished it, and these did not: their GPUs or links stopped. */
const stuckAlone = ({ groups, dumps }: DumpFacts): DumpFinding[] =>
  groups.flatMap((group) =>
    [...group.firstPending].flatMap(([rank, seq]) => {
      const { waiting: stuck, finished, behind, notListed } = placesAt(group, seq);
      const since = group.collectives.get(seq)!.get(rank)!.calls[0]!;
      // Nobody finishes what a rank did not call, so a rank without a dump called it, too.
      const isCalled = group.withoutDump.length === 0 || !isOneSided(since);
      if (!isCalled || behind.length + notListed.length > 0 || stuck.length > finished.length) return [];
      const waiting = [...group.firstPending].filter(([, own]) => own > seq).map(([one]) => one);
      const named = [newest(dumps, rank)];
      return [finding('not finished', 'hung', nameOf(group, seq, since), { named, waiting, since })];
    }),
  );

/** Per group and collective in which others wait: the ranks for which it is the first that they did not call. */
const missed = ({ groups, dumps }: DumpFacts): DumpFinding[] =>
  groups.flatMap((group) => {
    const behind = group.dumps.map(({ rank }) => rank).filter((rank) => !group.firstPending.has(rank));
    return [...new Set(group.firstPending.values())]
      .sort((a, b) => a - b)
      .flatMap((seq) => {
        const own = behind.filter((rank) => !hasFinished(group, rank, seq) && isBehind(group, rank, seq));
        for (const rank of own) behind.splice(behind.indexOf(rank), 1);
        if (own.length === 0) return [];
        const { waiting } = placesAt(group, seq);
        const since = firstCall(group, seq, waiting);
        const named = own.map((rank) => newest(dumps, rank));
        return [finding('not called', 'hung', nameOf(group, seq, since), { named, waiting, since })];
      });
  });

/** Peers with a dump that list no other half of what a rank sends or receives. */
const halvesMissing = ({ transfers, dumps }: DumpFacts): DumpFinding[] =>
  transfers.flatMap(({ group, rank, peer, call, other }) =>
    other === null && group.dumps.some((one) => one.rank === peer)
      ? [
          finding('half not called', 'hung', nameOf(group, call.seq, call), {
            ...{ named: [newest(dumps, peer)], waiting: [rank], since: call },
          }),
        ]
      : [],
  );

function whereTheyWait({
  groups,
  transfers,
}: DumpFacts): { finding: DumpFinding; without: readonly number[] }[] {
  const collectives = groups.flatMap((group) =>
    [...new Set(group.firstPending.values())].flatMap((seq) => {
      const { waiting, behind } = placesAt(group, seq);
      if (behind.length > 0) return [];
      const since = firstCall(group, seq, waiting);
      const found = finding('pending', 'pending', nameOf(group, seq, since), { waiting, since });
      return [{ finding: found, without: group.withoutDump }];
    }),
  );
  const halves = transfers.map(({ group, rank, peer, call }) => ({
    finding: finding('pending', 'pending', nameOf(group, call.seq, call), { waiting: [rank], since: call }),
    without: group.withoutDump.filter((one) => one === peer),
  }));
  return [...collectives, ...halves].sort((a, b) => a.finding.sinceNs - b.finding.sinceNs);
}

export function waitsOf(
  groups: readonly JoinedGroup[],
  transfers: readonly Transfer[],
): Map<number, Set<number>> {
  const waits = new Map<number, Set<number>>();
  const add = (rank: number, others: readonly number[]): void => {
    const known = waits.get(rank) ?? new Set<number>();
    for (const other of others) if (other !== rank) known.add(other);
    waits.set(rank, known);
  };
  for (const group of groups)
    for (const [rank, seq] of group.firstPending) {
      const { behind, finished } = placesAt(group, seq);
      add(rank, behind.length + finished.length > 0 ? behind : group.withoutDump);
    }
  for (const { rank, peer, other } of transfers) if (other === null) add(rank, [peer]);
  return waits;
}

/** All ranks for which the rank waits, over any number of others. */
function reachable(waitsFor: DumpFacts['waitsFor'], from: number): Set<number> {
  const seen = new Set<number>();
  const next = [from];
  for (let rank = next.pop(); rank !== undefined; rank = next.pop())
    for (const other of waitsFor.get(rank) ?? [])
      if (!seen.has(other)) {
        seen.add(other);
        next.push(other);
      }
  return seen;
}
