/**
 * The verdict on dumps alone: what the rules found. Dumps do not say when they were made, so a healthy job that is caught in a collective
 * looks like a hung one.
 */

import { isPending } from './call_ends.js';
import type { Dump, DumpedCall, LeftGroup } from './dump.js';
import type { FoundDumps, LeftOut } from './dump_files.js';
import type { JoinedGroup } from './joined_calls.js';
import { nameOf, type NamedCollective, type Place } from './rank_positions.js';
import { factsOf, RULES, type DumpFinding } from './rules.js';

export interface DumpVerdict {
  /** The kind of the first finding; `quiet` if there is none. */
  readonly kind: 'hung' | 'mismatch' | 'pending' | 'quiet';
  readonly dumps: number;
  /** In the order of the rules: the first one is the headline. */
  readonly findings: readonly DumpFinding[];
  /** Where each group waits, at most MOST_PENDING: first that of the headline, then in order of time. */
  readonly pending: readonly PendingCollective[];
  /** How many groups wait. */
  readonly pendingGroups: number;
  /** Sends and receives that are pending, on all ranks. */
  readonly pendingTransfers: number;
  /** Members of a group that left no dump. */
  readonly withoutDump: readonly number[];
  /** Ranks whose file holds only the reason why there is no dump. */
  readonly reasons: FoundDumps['reasons'];
  /** Dumps in the same place that belong to another job, or to an older attempt. */
  readonly leftOut: readonly LeftOut[];
  /** Groups that their processes gave up and replaced, in order of time. */
  readonly givenUp: readonly GivenUp[];
}

export interface PendingCollective extends NamedCollective, Omit<Place, 'group' | 'first'> {
  readonly withoutDump: readonly number[];
  /** Time of the collective's first call, ns since the Unix epoch. */
  readonly sinceNs: number;
  /** The first call, with its Python stack. */
  readonly call: DumpedCall;
}

export interface GivenUp extends NamedCollective {
  readonly sinceNs: number;
}

const MOST_PENDING = 50;

export function judgeDumps({ dumps, leftOut, reasons }: Omit<FoundDumps, 'problems'>): DumpVerdict {
  const facts = factsOf(dumps);
  const { groups, places } = facts;
  const pending = groups.flatMap((group) => pendingOf(group, places)).sort((a, b) => a.sinceNs - b.sinceNs);
  const findings = RULES.reduce<readonly DumpFinding[]>(
    (found, rule) => [...found, ...rule(facts, found)],
    [],
  );
  const [first] = findings;
  // torchcomms does not say between which ranks a send is.
  const openTransfers = dumps
    .flatMap(({ calls }) => calls)
    .filter((call) => call.isP2p && call.op !== 'coalesced' && isPending(call)).length;
  const isFirst = ({ group, ranks }: PendingCollective): number =>
    Number(group === first?.group && ranks.join() === first.ranks.join());
  return {
    kind: first?.kind ?? (openTransfers > 0 ? 'pending' : 'quiet'),
    dumps: dumps.length,
    findings,
    pending: pending.toSorted((a, b) => isFirst(b) - isFirst(a)).slice(0, MOST_PENDING),
    pendingGroups: pending.length,
    pendingTransfers: openTransfers,
    withoutDump: [...new Set(groups.flatMap((one) => one.withoutDump))].sort((a, b) => a - b),
    ...{ reasons, leftOut, givenUp: givenUpIn(dumps) },
  };
}

/** The place where most of the group's ranks wait, the latest of those. */
function pendingOf(group: JoinedGroup, places: readonly Place[]): PendingCollective[] {
  const [most] = places
    .filter((place) => place.group === group)
    .sort((a, b) => b.waiting.length - a.waiting.length || b.seq - a.seq);
  if (!most) return [];
  const { first: call, ...place } = most;
  const { withoutDump } = group;
  return [{ ...place, ...nameOf(group, place.seq, call), withoutDump, sinceNs: call.createdNs, call }];
}

/** Once per call, at the time of its first rank. */
function givenUpIn(dumps: readonly Dump[]): GivenUp[] {
  const calls = dumps.flatMap(({ left }) => left).sort((a, b) => a.call.createdNs - b.call.createdNs);
  const key = ({ name, call }: LeftGroup): string => `${name} ${call.seq} ${call.op}`;
  const first = new Map(calls.toReversed().map((one) => [key(one), one]));
  return [...first.values()].reverse().map(({ name, description, ranks, call }) => ({
    ...{ group: name, description, ranks, seq: call.seq, op: call.op, sinceNs: call.createdNs },
  }));
}
