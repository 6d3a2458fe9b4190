/**
 * What the dumps show, one rule per function, in the order of the headline: what is certain before what is possible, a cause before those
 * who wait for it. A rank is named only if the dumps show that others wait for it, and that it does not wait itself. A rank that others wait
 * for and that waits itself is a victim. If nothing else stands, the ranks that wait for each other in a circle are named.
 */

import { minOf } from '../base/extremes.js';
import { addTo, entryOf } from '../base/grouped.js';
import { isPending } from './call_ends.js';
import type { CallKind, DumpedCall } from './calls.js';
import {
  functionOf,
  oddOnes,
  unequalPairs,
  unequalSums,
  waysOf,
  type DumpedWay,
  type UnequalPair,
} from './compared_calls.js';
import type { Dump } from './dump.js';
import { callsOf, joinDumps, type JoinedGroup } from './joined_calls.js';
import {
  earliest,
  isOneSided,
  nameOf,
  placesIn,
  type NamedCollective,
  type Place,
} from './rank_positions.js';
import { NOTHING_KNOWN } from '../verdict/finding.js';
import type { Finding, Who } from '../verdict/types.js';
import { pendingTransfers, sizeOf, type Transfer } from './dumped_transfers.js';

/** As those of the verdict. Times are ns since the Unix epoch. */
export type DumpFinding = Finding<{
  rule: Found['rule'];
  kind: Found['kind'];
  time: number;
  who: DumpedRanks;
  about: DumpedDetail;
}>;

/** The ranks to look at. */
export interface DumpedRanks extends Pick<Who, 'degree'> {
  readonly ranks: readonly number[];
}

export interface DumpedDetail extends NamedCollective {
  /** Where to look. `last`: for a circle the call in which the rank waits, else its newest call; null: the dump lists none. */
  readonly named: readonly { readonly rank: number; readonly last: DumpedCall | null }[];
  /** Ranks that wait for them there. */
  readonly waiting: readonly number[];
  /** How the ranks called it, where that is what is wrong. */
  readonly ways: readonly DumpedWay[];
  /** Of an all_to_all of lists: which sizes differ, at most MOST_PAIRS. */
  readonly pairs: readonly UnequalPair[];
  /** Further transfers between the same ranks of which the same is true. */
  readonly alike: number;
}

/** What a rule finds. */
interface Found extends DumpedDetail {
  readonly rule:
    | 'called differently'
    | 'sizes differ'
    | 'not finished'
    | 'not called'
    | 'not started'
    | 'half not called'
    | 'batches differ'
    | 'other order'
    | 'circle'
    | 'no dump'
    | 'pending';
  readonly kind: 'mismatch' | 'hung' | 'pending';
  /** The job cannot go on because of it. */
  readonly stands: boolean;
  /** When the first of these called it. */
  readonly sinceNs: number;
}

const MOST_PAIRS = 64;

export interface DumpFacts {
  readonly dumps: readonly Dump[];
  readonly byRank: ReadonlyMap<number, Dump>;
  readonly groups: readonly JoinedGroup[];
  /** Where ranks wait. */
  readonly places: readonly Place[];
  /** Those that are pending. */
  readonly transfers: readonly Transfer[];
  /** By rank: the ranks for which it waits, in any group or between two ranks. If nobody else is missing: those without a dump. */
  readonly waitsFor: ReadonlyMap<number, ReadonlySet<number>>;
  /** By rank: its first call that is pending. */
  readonly firstOpen: ReadonlyMap<number, DumpedCall | undefined>;
}

/** `stronger`: what the rules before it found. */
type Rule = (facts: DumpFacts, stronger: readonly Found[]) => readonly Found[];

const ifNothingElse =
  (rule: Rule): Rule =>
  (facts, stronger) =>
    stronger.length > 0 ? [] : rule(facts, stronger);

const calledDifferently: Rule = ({ groups }) => groups.flatMap((group) => differing(group, true));

/** Calls that differ but ended do not stop a job. */
const endedDifferently: Rule = ({ groups }) => groups.flatMap((group) => differing(group, false));

const sizesDiffer: Rule = ({ transfers, firstOpen }) => {
  const found = transfers.flatMap(({ group, rank, peer, isSend, call, other, isSure }): Found[] => {
    if (other === null || (!isSend && isPending(other))) return [];
    // If each rank waits in its half first of all, the two belong together.
    const isPair =
      firstOpen.get(rank)?.record === call.record && firstOpen.get(peer)?.record === other.record;
    if (!isSure && !isPair) return [];
    const [sent, received] = [sizeOf(call, isSend), sizeOf(other, !isSend)];
    if (sent.bytes === received.bytes) return [];
    const ways = [
      { op: call.op, ...sent, ranks: [rank] },
      { op: other.op, ...received, ranks: [peer] },
    ];
    const named = [
      { rank, last: call },
      { rank: peer, last: other },
    ];
    return [{ ...finding('sizes differ', group, call, named), kind: 'mismatch', ways }];
  });
  return oncePerPair(found);
};

/** A batch may have hundreds of transfers. Of those between the same ranks the first is told, and the others are counted. */
function oncePerPair(found: readonly Found[]): Found[] {
  const first = new Map<string, Found>();
  for (const one of found) {
    const key = [one.group, one.ranks, one.named.map(({ rank }) => rank), one.waiting].join('|');
    const known = first.get(key);
    first.set(key, known ? { ...known, alike: known.alike + 1 } : one);
  }
  return [...first.values()];
}

/** An all_to_all in which one rank expects what the other does not send. */
const unequalParts: Rule = ({ places }) =>
  places.flatMap(({ group, seq, first }) => {
    if (functionOf(first) !== 'all_to_all') return [];
    const calls = callsOf(group, seq);
    const pairs = unequalPairs(group.ranks, calls);
    const ways = pairs.length > 0 ? [] : unequalSums(group.ranks, calls);
    const isMinority = ways.length > 1 && ways[0]!.ranks.length > ways[1]!.ranks.length;
    const odd =
      pairs.length > 0 ? oddOnes(pairs) : ways.slice(Number(isMinority)).flatMap((way) => way.ranks);
    if (odd.length === 0) return [];
    const named = odd.map((rank) => ({ rank, last: calls.get(rank)!.calls[0]! }));
    const ofOdd = ({ from }: UnequalPair): number => Number(odd.includes(from));
    const found = finding('sizes differ', group, first, named);
    return [
      {
        ...found,
        kind: 'mismatch',
        ways,
        pairs: pairs.sort((a, b) => ofOdd(b) - ofOdd(a)).slice(0, MOST_PAIRS),
      },
    ];
  });

const notFinished: Rule = (facts) => roots(facts, stuckAlone(facts));

const notCalled: Rule = (facts, stronger) => {
  const known = new Set(stronger.flatMap((one) => one.named.map(({ rank }) => rank)));
  return roots(facts, missed(facts), known);
};

/** All called it, no rank finished it, and only the GPUs of some have begun: the others' GPUs or hosts are busy elsewhere. */
const notStarted: Rule = (facts) =>
  facts.places.flatMap(({ group, seq, first, waiting, started, finished, behind, notListed }) => {
    const late = waiting.filter((rank) => !started.includes(rank));
    if (finished.length + behind.length + notListed.length > 0 || late.length > started.length) return [];
    const isIdle = (rank: number): boolean => {
      const { calls } = facts.byRank.get(rank)!;
      // A recorder without timing never says "started".
      const tells = [...calls].every(({ state, startedNs }) => state !== 'completed' || startedNs > 0);
      const open = facts.firstOpen.get(rank);
      return tells && open?.group === group.name && open.seq === seq;
    };
    if (late.length === 0 || !late.every(isIdle)) return [];
    return [{ ...finding('not started', group, first, newest(facts, late)), waiting: started }];
  });

/** Weaker than a collective, because a send may end before its receive does. */
const halfNotCalled: Rule = (facts) => roots(facts, halvesMissing(facts));

/**
 * A rank that left out a call waits where the others come after it. So other ranks show which call comes first. If none does, the place
 * where fewest ranks are missing counts. If several places are alike, all ranks of the circle are named.
 */
const circle: Rule = (facts) => {
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
  const named = [...ranks].sort((a, b) => a - b).map((rank) => ({ rank, last: stuckIn(facts, rank) }));
  return [{ ...first, rule: 'circle', named, waiting: [] }];
};

/** On another rank it came before the call in which this rank waits, in the same group or in one of its kind. */
function comesFirst(one: Found, rank: number, facts: DumpFacts): boolean {
  const open = facts.firstOpen.get(rank);
  if (!open || open.isP2p) return false;
  return facts.dumps.some((dump) => dump.rank !== rank && orderOf(dump, one, open) < 0);
}

type Named = Pick<DumpedCall, 'seq' | 'op' | 'description'>;

/** Below 0: the dump lists the first one, or one of its kind in another group, before the second one. NaN: it does not list both. */
function orderOf({ calls }: Dump, ...both: readonly [Named, Named]): number {
  const [first, second] = both.map((named) => {
    const name = functionOf(named);
    const isIt = ({ description, op }: CallKind): boolean =>
      description === named.description && functionOf({ op }) === name;
    return (
      calls.find((row) => calls.numbers.seq[row] === named.seq && isIt(calls.kinds[row]!))?.record ?? NaN
    );
  });
  return first! - second!;
}

/** Two ranks wait in two collectives that both called, each in the one that the other called later. The order of fewer ranks is odd. */
const otherOrder: Rule = ({ places, firstOpen, dumps, byRank }) => {
  for (const { group, seq, first, waiting, behind, notListed } of places) {
    for (const rank of behind.length + notListed.length > 0 ? [] : waiting) {
      const other = firstOpen.get(rank)!;
      const there = places.find((one) => one.group.name === other.group && one.seq === other.seq);
      if (!there || other.isP2p || there.first === first) continue;
      const later = (one: number): boolean => orderOf(byRank.get(one)!, first, other) < 0;
      if (!there.waiting.some((one) => one !== rank && waiting.includes(one) && later(one))) continue;
      const orders = dumps.map((dump) => orderOf(dump, first, other));
      const [these, those] = [-1, 1].map((sign) => orders.filter((one) => Math.sign(one) === sign).length);
      const odd = dumps.filter(
        (_, i) => (these! >= those! && orders[i]! > 0) || (these! <= those! && orders[i]! < 0),
      );
      const named = odd.map((dump) => ({ rank: dump.rank, last: firstOpen.get(dump.rank) ?? null }));
      // The one that the odd ranks called second.
      const second =
        these! >= those! ? ([group, seq, first] as const) : ([there.group, there.seq, other] as const);
      return [{ ...finding('other order', second[0], second[2], named), seq: second[1] }];
    }
  }
  return [];
};

/** The call of a rank's batch that nobody answers, or the first that is pending. */
function stuckIn({ firstOpen, transfers }: DumpFacts, rank: number): DumpedCall | null {
  const open = firstOpen.get(rank) ?? null;
  const inBatch = (one: Transfer): boolean =>
    one.rank === rank && one.other === null && one.call.batch === open!.batch;
  return open && open.batch > 0 ? (transfers.find(inBatch)?.call ?? open) : open;
}

/** Two ranks are in a batch of sends and receives each. For some of one rank's, the other one's batch has no other half, and the reverse. */
const batchesDiffer: Rule = ({ transfers, firstOpen }) => {
  const alone = new Map<string, Transfer[]>();
  for (const one of transfers) {
    const { rank, peer, call, other } = one;
    const isStuck = call.batch > 0 && call.batch === firstOpen.get(rank)?.batch;
    if (other === null && isStuck) addTo(alone, [rank, peer].sort((a, b) => a - b).join(' '), one);
  }
  return [...alone.values()].flatMap((some) => {
    const ranks = [...new Set(some.map(({ rank }) => rank))].sort((a, b) => a - b);
    if (ranks.length < 2) return [];
    const named = ranks.map((rank) => ({ rank, last: some.find((one) => one.rank === rank)!.call }));
    const ways = some.map(({ call, isSend, rank }) => ({
      op: call.op,
      ...sizeOf(call, isSend),
      ranks: [rank],
    }));
    const { group, call } = some[0]!;
    return [{ ...finding('batches differ', group, call, named), kind: 'mismatch', ways }];
  });
};

/** Nobody with a dump is missing, but there are ranks without a dump. */
const noDump: Rule = (facts) => {
  const found = whereTheyWait(facts).flatMap(({ pending, without }) => {
    const named = without.map((rank) => ({ rank, last: null }));
    return named.length > 0 ? [{ ...pending, rule: 'no dump' as const, named }] : [];
  });
  return oncePerPair(found);
};

const stillPending: Rule = (facts) => whereTheyWait(facts).map(({ pending }) => pending);

const RULES: readonly Rule[] = [
  calledDifferently,
  sizesDiffer,
  unequalParts,
  notFinished,
  notCalled,
  notStarted,
  ...[halfNotCalled, batchesDiffer, circle, otherOrder].map(ifNothingElse),
  ...[noDump, stillPending, endedDifferently].map(ifNothingElse),
];

/** What all rules find, the headline first. */
export function findingsIn(facts: DumpFacts): DumpFinding[] {
  const found = RULES.reduce<readonly Found[]>((all, rule) => [...all, ...rule(facts, all)], []);
  return found.map(({ rule, kind, stands, sinceNs, ...about }) => {
    const ranks = about.named.map(({ rank }) => rank);
    const degree = ranks.length === 0 ? 'nobody known' : ranks.length === 1 ? 'this' : 'these';
    const { description, group, op, seq } = about;
    return {
      ...{ rule, kind, stands, isSure: kind !== 'pending' },
      ...NOTHING_KNOWN,
      since: sinceNs,
      where: { commId: null, comm: description || group, func: op, seq, replay: 0 },
      ...{ who: { degree, ranks }, about },
    };
  });
}

/** A finding whose ranks others wait for. */
const finding = (
  rule: Found['rule'],
  group: JoinedGroup,
  call: DumpedCall,
  named: Found['named'],
  waiting: readonly number[] = [],
): Found => ({
  ...nameOf(group, call.seq, call),
  ...{
    rule,
    kind: 'hung',
    stands: true,
    named,
    waiting,
    ways: [],
    pairs: [],
    alike: 0,
    sinceNs: call.createdNs,
  },
});

const newest = ({ byRank }: DumpFacts, ranks: readonly number[]): Found['named'] =>
  ranks.map((rank) => ({ rank, last: byRank.get(rank)?.calls.at(-1) ?? null }));

/** Without the ranks that wait themselves. A rank may be behind in many groups. The one where it began counts. */
function roots(
  { waitsFor }: DumpFacts,
  found: readonly Found[],
  known: ReadonlySet<number> = new Set(),
): Found[] {
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
function differing(group: JoinedGroup, isOpen: boolean): Found[] {
  for (const seq of group.differing) {
    const ranks = callsOf(group, seq);
    const calls = [...ranks.values()];
    if (calls.some((one) => one.isPending) !== isOpen) continue;
    const ways = waysOf(calls);
    const [most, second] = ways;
    if (!second) continue;
    const isMinority = most!.ranks.length > second.ranks.length;
    const odd = (isMinority ? ways.slice(1) : ways).flatMap((way) => way.ranks);
    const named = odd.map((rank) => ({ rank, last: ranks.get(rank)!.calls[0]! }));
    const first = earliest(calls.map((one) => one.calls[0]!));
    return [
      { ...finding('called differently', group, first, named), kind: 'mismatch', stands: isOpen, ways },
    ];
  }
  return [];
}

/** All ranks called it, most finished it, and these did not: their GPUs or links stopped. */
const stuckAlone = (facts: DumpFacts): Found[] =>
  facts.places.flatMap(({ group, seq, first, waiting: stuck, finished, behind, notListed }) => {
    // Nobody finishes what a rank did not call, so a rank without a dump called it, too.
    const isCalled = group.withoutDump.length === 0 || !isOneSided(first);
    if (!isCalled || behind.length + notListed.length > 0 || stuck.length > finished.length) return [];
    const waiting = [...group.firstPending].filter(([, own]) => own > seq).map(([one]) => one);
    return [finding('not finished', group, first, newest(facts, stuck), waiting)];
  });

/** Per group and collective in which others wait: the ranks for which it is the first that they did not call. */
const missed = (facts: DumpFacts): Found[] =>
  facts.places.flatMap(({ group, seq, first, behind, waiting }) => {
    const before = facts.places.filter((one) => one.group === group && one.seq < seq);
    const own = behind.filter(
      (rank) => !group.firstPending.has(rank) && !before.some((one) => one.behind.includes(rank)),
    );
    return own.length > 0 ? [finding('not called', group, first, newest(facts, own), waiting)] : [];
  });

/** Peers with a dump that list no other half of what a rank sends or receives. */
const halvesMissing = (facts: DumpFacts): Found[] =>
  oncePerPair(
    facts.transfers.flatMap(({ group, rank, peer, call, other }) =>
      other === null && group.members.has(peer)
        ? [finding('half not called', group, call, newest(facts, [peer]), [rank])]
        : [],
    ),
  );

/** In order of time. `without`: ranks without a dump that may be missing there. */
function whereTheyWait({ places, transfers }: DumpFacts): {
  pending: Found;
  without: readonly number[];
}[] {
  const pending = (group: JoinedGroup, call: DumpedCall, waiting: readonly number[]): Found => ({
    ...finding('pending', group, call, [], waiting),
    ...{ kind: 'pending', stands: false },
  });
  const found = [
    ...places
      .filter(({ behind }) => behind.length === 0)
      .map(({ group, first, waiting }) => ({
        pending: pending(group, first, waiting),
        without: group.withoutDump,
      })),
    ...transfers.map(({ group, rank, peer, call }) => ({
      pending: pending(group, call, [rank]),
      without: group.members.has(peer) ? [] : [peer],
    })),
  ];
  return found.sort((a, b) => a.pending.sinceNs - b.pending.sinceNs);
}

/** For ranks that wait in a call which all made, and which nothing before it holds up. */
const NOBODY_KNOWN = -1;

export function factsOf(dumps: readonly Dump[]): DumpFacts {
  const groups = joinDumps(dumps);
  const places = groups.flatMap(placesIn);
  const transfers = groups.flatMap(pendingTransfers);
  const byRank = new Map(dumps.map((dump) => [dump.rank, dump]));
  const firstOpen = new Map(
    dumps.map(({ rank, calls }) => [rank, calls.find((row) => calls.isPending(row))]),
  );
  const isFirstOpen = (rank: number, call: DumpedCall): boolean =>
    firstOpen.get(rank)?.record === call.record;
  const waitsFor = new Map<number, Set<number>>();
  const add = (rank: number, others: readonly number[]): void => {
    const known = entryOf(waitsFor, rank, () => new Set());
    for (const other of others) known.add(other);
  };
  for (const { group, seq, waiting, finished, behind } of places) {
    const isFirst = waiting.every((rank) => {
      const open = firstOpen.get(rank);
      return open?.group === group.name && open.seq === seq && !open.isP2p;
    });
    const isOpen = waiting.length > finished.length;
    const others = behind.length + finished.length > 0 ? behind : group.withoutDump;
    const unknown = others.length === 0 && isFirst && isOpen ? [NOBODY_KNOWN] : [];
    for (const rank of waiting) add(rank, [...others, ...unknown]);
  }
  for (const { rank, peer, call, other } of transfers) {
    if (other === null) add(rank, [peer]);
    else if (isFirstOpen(rank, call) && (isFirstOpen(peer, other) || !isPending(other)))
      add(rank, [NOBODY_KNOWN]);
  }
  return { dumps, byRank, groups, places, transfers, firstOpen, waitsFor };
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
