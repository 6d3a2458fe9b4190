/**
 * The verdict on dumps alone: what the rules found. Dumps do not say when they were made, so a healthy job that is caught in a collective
 * looks like a hung one.
 */

import type { Calls, DumpedCall } from './calls.js';
import type { Dump, LeftGroup } from './dump.js';
import type { FoundDumps } from './dump_files.js';
import type { JoinedGroup } from './joined_calls.js';
import { nameOf, type NamedCollective, type Place } from './rank_positions.js';
import { factsOf, findingsIn, type DumpFinding } from './rules.js';
import type { DumpedJob } from './same_job.js';

export interface DumpVerdict<Found extends DumpFinding = DumpFinding> {
  /** The kind of the first finding; `quiet` if there is none. */
  readonly kind: 'hung' | 'mismatch' | 'pending' | 'quiet';
  readonly dumps: number;
  /** In the order of the rules: the first one is the headline. */
  readonly findings: readonly Found[];
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
  /** Ranks whose wall clock was corrected, and by how much it is ahead of the others. */
  readonly clocks: DumpedJob['clocks'];
  /** Dumps in the same place that are no part of this job. */
  readonly others: readonly OtherJob[];
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

/** Dumps beside those of the verdict, with a verdict of their own. */
export interface OtherJob {
  readonly why: 'another job' | 'an older attempt' | 'older dumps of ranks that have a newer one';
  readonly ranks: readonly number[];
  readonly paths: readonly string[];
  /** Ranks in its largest group. */
  readonly worldSize: number;
  /** Its newest call, ns since the Unix epoch; 0: it lists none. */
  readonly lastNs: number;
  /** null: not judged. */
  readonly verdict: Omit<DumpVerdict, 'others' | 'reasons'> | null;
}

const MOST_PENDING = 50;
const GRAVITY = ['quiet', 'pending', 'mismatch', 'hung'];

/** The worst job first; a job that was started again counts for less than any other. */
export function judgeJobs({ jobs, reasons }: Pick<FoundDumps, 'jobs' | 'reasons'>): DumpVerdict {
  const judged = jobs.map((job) => ({ job, verdict: judgeJob(job) }));
  const weight = ({ job, verdict }: (typeof judged)[number]): number =>
    Math.min(GRAVITY.indexOf(verdict.kind), 2) - (job.isOlderAttempt ? GRAVITY.length : 0);
  const [worst, ...rest] = judged.sort((a, b) => weight(b) - weight(a));
  const others = rest.map(({ job, verdict }): OtherJob => ({
    why: job.isOlderAttempt ? 'an older attempt' : 'another job',
    ...ofDumps(job, job.dumps),
    verdict,
  }));
  const second = jobs.filter((job) => job.second.length > 0);
  const older = second.map((job): OtherJob => ({
    why: 'older dumps of ranks that have a newer one',
    ...ofDumps(job, job.second),
    verdict: null,
  }));
  return { ...worst!.verdict, reasons, others: [...others, ...older] };
}

const ofDumps = ({ worldSize, lastNs }: DumpedJob, dumps: readonly Dump[]) => ({
  ranks: dumps.map(({ rank }) => rank),
  paths: dumps.map(({ path }) => path),
  ...{ worldSize, lastNs },
});

function judgeJob({ dumps, clocks }: DumpedJob): Omit<DumpVerdict, 'others' | 'reasons'> {
  const facts = factsOf(dumps);
  const { groups, places } = facts;
  const pending = groups.flatMap((group) => pendingOf(group, places)).sort((a, b) => a.sinceNs - b.sinceNs);
  const findings = findingsIn(facts);
  const [first] = findings;
  // torchcomms does not say between which ranks a send is.
  const openTransfers = dumps.reduce((sum, { calls }) => sum + pendingP2p(calls), 0);
  const isFirst = ({ group, ranks }: PendingCollective): number =>
    Number(group === first?.about.group && ranks.join() === first.about.ranks.join());
  return {
    kind: first?.kind ?? (openTransfers > 0 ? 'pending' : 'quiet'),
    dumps: dumps.length,
    findings,
    pending: pending.toSorted((a, b) => isFirst(b) - isFirst(a)).slice(0, MOST_PENDING),
    pendingGroups: pending.length,
    pendingTransfers: openTransfers,
    withoutDump: [...new Set(groups.flatMap((one) => one.withoutDump))].sort((a, b) => a - b),
    ...{ clocks, givenUp: givenUpIn(dumps) },
  };
}

const pendingP2p = (calls: Calls): number =>
  calls.kinds.filter(({ isP2p, op }, row) => isP2p && op !== 'coalesced' && calls.isPending(row)).length;

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
