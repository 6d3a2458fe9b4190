/**
 * The clocks of one run: from wall clocks and, if ranks are on several hosts, from the transfers between the hosts. With the solution,
 * every transfer between hosts is checked once more, in whole nanoseconds, as it will be drawn.
 */

import { ALIGNMENT_DEFAULTS, type Alignment, type AlignmentOptions } from '../alignment.js';
import {
  clockAxes,
  domainOfFile,
  solveClocks,
  traceTimeOf,
  type ClockSolution,
  type ClockWitness,
} from '../domains.js';
import {
  connectionHash,
  operationId,
  transferId,
  transferName,
  type ConnectionName,
} from '../../model/identity.js';
import type { EvidenceKind } from '../evidence.js';
import { oneSidedBound, type OneSidedBound } from '../one_way_traffic.js';
import { alignByEvidence, isSplit, type Aligned, type Belief } from './believed_stamps.js';
import type { ImpossiblePairs } from './edge_collectors.js';
import { collectEvidence, type ClockEvidence, type EvidenceSource } from './clock_evidence.js';
import { largestGroup } from './collective_evidence.js';
import type { Run } from '../../runs/run.js';
import { mayBeClones, nameClones, shownClones, withNames } from './clones.js';
import { STEP_ROW } from '../../scan/step_file.js';
import { TransferTimer, type TransferTimes } from './transfer_times.js';
import { joinTransfers, linksBetween, type StepSource, type TransferLink } from './joined_transfers.js';

/** The clocks as all other code needs them. Plain data, because a file between two steps of a merge contains it. */
export interface FoundClocks {
  readonly solution: ClockSolution;
  /** null: one host, or wall clocks were asked for. */
  readonly traffic: TrafficFacts | null;
  readonly broken: BrokenTransfers;
  /** Times of connections on one axis with both ends in files. */
  readonly transferTimes: readonly TransferTimes[];
}

export interface TrafficFacts {
  readonly alignment: Pick<Alignment, 'references' | 'wander' | 'alike' | 'unlike' | 'culprits'>;
  readonly belief: Belief;
  readonly impossible: readonly ImpossiblePairs[];
  readonly evidence: Pick<ClockEvidence, 'coarse' | 'counts'>;
  /** Per domain: pairs about it, used for its clock, by kind. */
  readonly pairs: readonly Readonly<Partial<Record<EvidenceKind, number>>>[];
  /** Per domain: what traffic in one direction shows about a wall clock. null: nothing. */
  readonly oneSided: readonly (OneSidedBound | null)[];
}

/** With all that the solver knows. */
export interface RunClocks extends FoundClocks {
  readonly traffic: (Aligned & TrafficFacts & { readonly evidence: ClockEvidence }) | null;
}

/** Without the solver's functions and its evidence: they are large, and nothing after it needs them. */
export function withoutSolver({ traffic, ...found }: RunClocks): FoundClocks {
  if (!traffic) return { ...found, traffic };
  const { alignment, belief, impossible, evidence, pairs, oneSided } = traffic;
  const { references, wander, alike, unlike, culprits } = alignment;
  const { coarse, counts } = evidence;
  return {
    ...found,
    traffic: {
      ...{ belief, impossible, pairs, oneSided },
      alignment: { references, wander, alike, unlike, culprits },
      evidence: { coarse, counts },
    },
  };
}

/** Transfers whose arrow would be wrong. */
export interface BrokenTransfers {
  /** Ids for the second pass, without those of connections out of step. */
  readonly names: ReadonlySet<string>;
  /** By pair of domains, "from to": received before sent. */
  readonly backwards: ReadonlyMap<string, number>;
  /** Their two ends report different operations or sizes. */
  readonly mismatched: number;
  readonly outOfStep: readonly OutOfStep[];
}

/**
 * A connection whose two ends are out of step after some operation: they describe different work, or (on one counter) data is received
 * before it is sent. Data arrives in the order in which it was sent, whatever work it belongs to. So after this operation no arrow is
 * right.
 */
export interface OutOfStep extends ConnectionName {
  /** The ordinal of the first such operation. */
  readonly from: number;
  /** Operations from there on that have both ends in files. */
  readonly operations: number;
}

export interface ClockOptions {
  /** 'realtime': wall clocks only. */
  readonly clock?: 'auto' | 'realtime' | undefined;
  /** Relative spread of minimum delays of like links. */
  readonly alike?: number | undefined;
  /** Most that a clock's rate changes, ppm per minute. */
  readonly wander?: number | undefined;
}

/** `stepPaths`: the side file of each member. */
export function solveRunClocks(
  run: Run,
  stepPaths: readonly string[],
  { clock, alike, wander }: ClockOptions,
): RunClocks {
  const stated = run.members.map(({ scan }, file): ClockWitness => ({
    file,
    header: scan.header,
    samples: scan.clockSamples,
  }));
  const sources = run.members.map(({ scan }, file): EvidenceSource => ({
    path: stepPaths[file]!,
    connections: scan.steps,
    communicators: scan.communicators,
    works: scan.works,
    workEnds: scan.workEnds,
    rings: scan.rings,
  }));
  const witnesses = nameClones(sources, stated, clockAxes(stated));
  if (clock === 'realtime' || clockAxes(witnesses).names.length < 2) {
    const solution = solveClocks(witnesses);
    return { solution, traffic: null, ...lookOnceMore(sources, solution) };
  }
  const options: AlignmentOptions = {
    alike: alike ?? ALIGNMENT_DEFAULTS.alike,
    wanderPpmPerMinute: wander ?? ALIGNMENT_DEFAULTS.wanderPpmPerMinute,
  };
  const { aligned, evidence, solution } = alignWithoutClones(sources, witnesses, options);
  return {
    solution,
    traffic: trafficFound(aligned, evidence, solution),
    ...lookOnceMore(sources, solution),
  };
}

interface AlignedRun {
  readonly aligned: Aligned;
  readonly evidence: ClockEvidence;
  readonly solution: ClockSolution;
}

/** If the evidence contradicts itself, clones may be the cause. */
function alignWithoutClones(
  sources: readonly EvidenceSource[],
  witnesses: readonly ClockWitness[],
  options: AlignmentOptions,
): AlignedRun {
  const first = alignRun(sources, witnesses, options);
  if (first.aligned.alignment.culprits.every(isSplit)) return first;
  const { domainOf } = first.solution;
  const suspects = mayBeClones(witnesses, domainOf);
  if (suspects.size === 0) return first;
  const apart = alignRun(sources, withNames(witnesses, domainOf, suspects), options);
  const shown = shownClones(witnesses, domainOf, apart.solution);
  if (shown.size === suspects.size) return apart;
  return shown.size === 0 ? first : alignRun(sources, withNames(witnesses, domainOf, shown), options);
}

function alignRun(
  sources: readonly EvidenceSource[],
  witnesses: readonly ClockWitness[],
  options: AlignmentOptions,
): AlignedRun {
  const axes = clockAxes(witnesses);
  const evidence = collectEvidence(sources, axes);
  const aligned = alignByEvidence(axes.names.length, evidence, options);
  const solution = solveClocks(witnesses, { alignment: aligned.alignment, coarse: evidence.coarse });
  return { aligned, evidence, solution };
}

function trafficFound(
  aligned: Aligned,
  evidence: ClockEvidence,
  solution: ClockSolution,
): NonNullable<RunClocks['traffic']> {
  const { alignment, edges } = aligned;
  const { references } = alignment;
  const reference = largestGroup(references);
  const pairs = solution.domains.map((): Partial<Record<EvidenceKind, number>> => ({}));
  for (const { from, to, kind, pairs: count } of edges)
    for (const own of [pairs[from], pairs[to]]) if (own) own[kind] = (own[kind] ?? 0) + count;
  return {
    ...aligned,
    evidence,
    pairs,
    oneSided: solution.domains.map(({ map }, domain) =>
      map.segments[0]?.source !== 'realtime' || references[domain] === reference
        ? null
        : oneSidedBound(domain, reference, solution, alignment, evidence.coarse),
    ),
  };
}

/** Checks all pairs on one axis, including pairs that were no evidence. */
function lookOnceMore(
  sources: readonly StepSource[],
  solution: ClockSolution,
): Pick<FoundClocks, 'broken' | 'transferTimes'> {
  const domains = sources.map((_, file) => domainOfFile(solution, file));
  const times = sources.map((_, file) => traceTimeOf(solution, file));
  const links = linksBetween(sources, (a, b) => domains[a]!.group === domains[b]!.group);
  const firsts = new Map<TransferLink, number>();
  const names = new Set<string>();
  const backwards = new Map<string, number>();
  const timer = new TransferTimer();
  let mismatched = 0;
  joinTransfers(sources, links, (link, send, receive, agreement) => {
    const { sender, receiver, sends } = link;
    const arrives = times[receiver]!(receive[STEP_ROW.seen]!);
    const sent = times[sender]!(send[STEP_ROW.before]!);
    const isBackwards = arrives < sent;
    if (agreement === 'agree')
      timer.add(link, send, receive, Math.max(sent, times[receiver]!(receive[STEP_ROW.before]!)), arrives);
    const isMismatched = agreement === 'sizesDiffer' || agreement === 'operationsDiffer';
    if (!isBackwards && !isMismatched) return;
    const ordinal = send[STEP_ROW.ordinal]!;
    const onOneCounter = domains[sender] === domains[receiver];
    if (agreement === 'operationsDiffer' || (isBackwards && onOneCounter))
      firsts.set(link, Math.min(ordinal, firsts.get(link) ?? Infinity));
    else {
      const operation = operationId(connectionHash(sends), ordinal);
      names.add(transferName(transferId(operation, send[STEP_ROW.step]!)));
    }
    if (isMismatched) mismatched++;
    else if (!onOneCounter) {
      const key = `${solution.domainOf[sender]!} ${solution.domainOf[receiver]!}`;
      backwards.set(key, (backwards.get(key) ?? 0) + 1);
    }
  });
  const outOfStep = connectionsOutOfStep(sources, firsts);
  return { broken: { names, backwards, mismatched, outOfStep }, transferTimes: timer.finish() };
}

function connectionsOutOfStep(
  sources: readonly StepSource[],
  firsts: ReadonlyMap<TransferLink, number>,
): OutOfStep[] {
  const ordinals = new Map([...firsts.keys()].map((link) => [link, new Set<number>()]));
  joinTransfers(sources, [...firsts.keys()], (link, send) => {
    const ordinal = send[STEP_ROW.ordinal]!;
    if (ordinal >= firsts.get(link)!) ordinals.get(link)!.add(ordinal);
  });
  return [...firsts].map(([link, from]) => {
    const { commId, channel, source, destination } = link.sends;
    return { commId, channel, source, destination, from, operations: ordinals.get(link)!.size };
  });
}
