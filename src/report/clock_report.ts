/** Quality of the clocks, as plain data: for the closing report, `--summary` and `nccl-trace clocks`. */

import { maxOf } from '../base/extremes.js';
import { perNs } from '../clocks/alignment.js';
import type { Culprit } from '../clocks/contradictions.js';
import type { ClockDomain, ClockSolution } from '../clocks/domains.js';
import { reportGpus, type GpuClockReport } from '../clocks/evidence/gpu_clocks.js';
import type { ImpossiblePairs } from '../clocks/evidence/edge_collectors.js';
import type { BrokenTransfers, FoundClocks, TrafficFacts } from '../clocks/evidence/run_clocks.js';
import type { Run } from '../runs/run.js';

/** One clock domain: a boot of a host. */
export type ClockReport = Readonly<ReturnType<typeof reportDomain>>;

/** Summary of the transfers between hosts; null with one host, or with `--clock realtime`. */
export type TrafficReport = Readonly<NonNullable<ReturnType<typeof reportTraffic>>>;

export function reportClocks(clocks: FoundClocks, run: Run): ClockReport[] {
  return clocks.solution.domains.map((domain, index) => reportDomain(domain, index, clocks, run));
}

function reportDomain(
  domain: ClockDomain,
  index: number,
  { solution, traffic, broken }: FoundClocks,
  run: Run,
) {
  const { segments } = domain.map;
  const worst = (pick: 'hardBound' | 'bound99'): number | null => {
    const bound = maxOf(segments.map((segment) => segment[pick]));
    return Number.isFinite(bound) ? bound : null;
  };
  return {
    domain: domain.name,
    host: domain.hostName,
    ranks: domain.files.flatMap((file) => ranksOrUnknown(run.members[file]?.ranks)),
    /** own-counter, traffic or realtime. */
    source: segments[0]?.source ?? 'none',
    /** Domains of the same group are on one axis, within their bounds. */
    group: solution.domains[domain.group]!.name,
    /** Bound of |error| against the group's domain, worst of the run, ns; null: unbounded. */
    hardBound: worst('hardBound'),
    bound99: worst('bound99'),
    /**
     * For a domain that its wall clock places, with traffic in one direction only. Against `host` its times are too late, or too early, by at
     * most this many ns. A value below 0 means at least this many ns the other way. null: unbounded.
     */
    oneSided: oneSidedOf(index, solution, traffic),
    /** Rate of the trace's axis against this counter's nominal rate, first piece. */
    driftPpm: (segments[0]?.drift ?? 0) * 1e6,
    /** Number of straight pieces. */
    pieces: segments.length,
    /** Pairs about this domain, by kind. */
    evidence: traffic?.pairs[index] ?? {},
    /** Transfers of this domain that would point backwards. They are not drawn. */
    violations: violationsOf(index, broken),
    ...gpusOf(domain, solution, run),
    /**
     * Largest change of its rate from one half minute to the next, against the other clocks of its group, in ppm per minute. null: no traffic
     * shows it, or the run is shorter than a minute.
     */
    wanderPpmPerMinute: wanderOf(index, traffic),
    /** Largest distance of a wall-clock sample from the line, or from the group's axis, that placed it. */
    realtimeResidualNs: domain.realtimeResidual,
    flags: [...new Set(segments.flatMap(({ flags }) => flags))],
  };
}

function wanderOf(domain: number, traffic: TrafficFacts | null): number | null {
  const seen = traffic?.alignment.wander[domain] ?? null;
  return seen === null ? null : seen / perNs(1);
}

/** Its ranks with stamped kernels; absent if there are none. */
function gpusOf(
  { files }: ClockDomain,
  { scales }: ClockSolution,
  run: Run,
): { readonly gpus?: GpuClockReport[] } {
  const gpus = files.flatMap((file) => reportGpus(run.members[file]!, scales[file]!));
  return gpus.length === 0 ? {} : { gpus };
}

/** All ranks of a process. */
const ranksOrUnknown = (ranks: readonly number[] = []): readonly (number | null)[] =>
  ranks.length === 0 ? [null] : ranks;

function oneSidedOf(
  domain: number,
  { domains }: ClockSolution,
  traffic: TrafficFacts | null,
): { readonly host: string; readonly late: number | null; readonly early: number | null } | null {
  const bound = traffic?.oneSided[domain] ?? null;
  return bound && { host: domains[bound.against]!.hostName, late: bound.late, early: bound.early };
}

function violationsOf(domain: number, { backwards }: BrokenTransfers): number {
  let sum = 0;
  for (const [key, count] of backwards) {
    if (key.split(' ').includes(String(domain))) sum += count;
  }
  return sum;
}

export function reportTraffic({ solution, traffic, broken }: FoundClocks) {
  if (!traffic) return null;
  const { alignment, belief, evidence, impossible } = traffic;
  const { pairs, sampledOut, ...dropped } = evidence.counts;
  const host = (domain: number): string => solution.domains[domain]!.hostName;
  return {
    pairs,
    /** Not compared, because the scan keeps only a share if there are too many. */
    sampledOut,
    /** Left out, by cause. */
    dropped,
    /** Whether the assumption of the 99 % bound was seen to hold. */
    alike: alignment.alike,
    credits: belief.credits,
    earlyArrivals: belief.earlyArrivals,
    /** Links slower or faster than similar ones, ns. */
    unlike: alignment.unlike.map(({ from, to, by }) => ({ from: host(from), to: host(to), byNs: by })),
    /** Evidence left out because it contradicted the rest, as sentences. */
    leftOut: [
      ...alignment.culprits.map((culprit) => leftOut(culprit, host)),
      ...impossible.map((one) => leftOutAsImpossible(one, host)),
    ],
    brokenArrows: {
      backwards: [...broken.backwards.values()].reduce((sum, count) => sum + count, 0),
      mismatched: broken.mismatched,
    },
  };
}

function leftOutAsImpossible({ from, to, pairs }: ImpossiblePairs, host: (domain: number) => string): string {
  return (
    `${pairs} ${pairs === 1 ? 'pair' : 'pairs'} of stamps from ${host(from)} to ${host(to)} would arrive more than an hour before they were ` +
    'sent and are no evidence for clocks; one stamp of each is wrong'
  );
}

function leftOut(culprit: Culprit, host: (domain: number) => string): string {
  if (culprit.what === 'link') {
    return (
      `transfers from ${host(culprit.from)} to ${host(culprit.to)} contradict all others by ${us(culprit.by)} us and are ` +
      'no evidence for clocks; either stamps of that link are wrong or its pairs are'
    );
  }
  if (culprit.what === 'clock-unsteady') {
    const { domains, by } = culprit;
    const named = domains.slice(0, MOST_NAMED).map(host).join(', ');
    const more = domains.length > MOST_NAMED ? ` and ${domains.length - MOST_NAMED} more` : '';
    return (
      `the clock of ${domains.length === 1 ? named : `one of ${named}${more}`} did not run as steadily as clocks do, not even as one that warms up: transfers at ` +
      `different times contradict each other by ${us(by)} us (it jumped between them, or its counter is steered?); placed by wall clock, ` +
      'without arrows'
    );
  }
  const { domain, other, jump } = culprit;
  const by = `${us(other === null ? jump : Math.abs(jump))} us`;
  const what = `jumped by ${by} against ${other === null ? 'all others' : 'the other'} (a virtual machine stopped or moved?)`;
  const who =
    other === null
      ? `the clock of ${host(domain)}`
      : `the clock of ${host(domain)} or that of ${host(other)}`;
  const unknown = other === null ? '' : ', and no third host shows which';
  return culprit.isSplit
    ? `${who} ${what}${unknown}: its times before and behind that are aligned each by itself`
    : `${who} ${what}${unknown}: ${other === null ? 'it is' : 'both are'} placed by wall clock, without arrows`;
}

const us = (ns: number): string => (ns / 1e3).toFixed(0);

/** A sentence names at most this many hosts. */
const MOST_NAMED = 8;
