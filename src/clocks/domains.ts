/**
 * Clock domains, and their place on the trace's axis. The processes of a domain share a counter (shared_counters.ts), so inside a domain
 * alignment is exact. Traffic aligns domains with each other (alignment.ts). Groups of domains, and domains without evidence, are placed by
 * REALTIME and flagged. Steps and slews of the wall clock move the absolute axis but never bend relative times: a single domain has one
 * line REALTIME = a + b * local over the whole run, and a group uses medians (placement.ts).
 */

import { addTo, entryOf } from '../base/grouped.js';
import { maxOf, minOf } from '../base/extremes.js';
import { localNs, type LocalNs, type TraceNs } from '../base/time.js';
import { alignedSegments, onAxis, type TrafficClocks } from './aligned_segments.js';
import { segmentAt, toTraceIn, type ClockMap, type ClockSegment } from './clock_map.js';
import type { Point } from './fit.js';
import { place, SLEWED, wallClock, type Placement } from './placement.js';
import { sharedCounters, type ClockWitness, type SharedCounter } from './shared_counters.js';

export type { ClockWitness } from './shared_counters.js';

/** Ticks of one file → LocalNs of its domain: local = offset + ticks * nsPerTick. */
export interface TickScale {
  readonly offset: number;
  readonly nsPerTick: number;
}

export interface ClockDomain {
  readonly name: string;
  readonly hostName: string;
  readonly files: readonly number[];
  readonly map: ClockMap;
  /** Largest |sample - line| of REALTIME, ns: how unsteady the wall clock was. */
  readonly realtimeResidual: number;
  readonly samples: number;
  /** Domains of one group are on one axis, within their bounds: the number of its first domain. */
  readonly group: number;
}

export interface ClockSolution {
  /** REALTIME ns at TraceNs 0. */
  readonly traceStart: bigint;
  readonly domains: readonly ClockDomain[];
  /** By file index. */
  readonly scales: readonly TickScale[];
  readonly domainOf: readonly number[];
}

/** NTP slews less than this, so the wall clock was set. Relative times do not follow it. The absolute axis is uncertain. */
const STEPPED_NS = 10e6;

/** Domains before they are aligned. */
export interface ClockAxes {
  /** By file index. */
  readonly scales: readonly TickScale[];
  readonly domainOf: readonly number[];
  /** Per domain: LocalNs + this is one axis for all, as exact as the wall clocks at the start. */
  readonly coarse: readonly number[];
  /** Per domain, for people. */
  readonly names: readonly string[];
}

export function clockAxes(witnesses: readonly ClockWitness[]): ClockAxes {
  const counters = sharedCounters(witnesses);
  return { ...fileAxes(counters), coarse: coarseOffsets(counters), names: counters.map(nameOf) };
}

/** `traffic` null: there are only wall clocks. */
export function solveClocks(
  witnesses: readonly ClockWitness[],
  traffic: TrafficClocks | null = null,
): ClockSolution {
  const counters = sharedCounters(witnesses);
  const base = counters.map(({ realtimeBase }) => realtimeBase).reduce((a, b) => (b < a ? b : a));
  const groups = new Map<number, number[]>();
  const placements = new Map<number, Placement>();
  // Counters without a file are only in the alignment.
  const referenceOf = (domain: number): number => traffic?.alignment.references[domain] ?? domain;
  counters.forEach((_, domain) => {
    addTo(groups, referenceOf(domain), domain);
  });
  const placed = counters.map((counter, domain) => {
    const reference = referenceOf(domain);
    const group = groups.get(reference)!;
    if (!traffic || group.length <= 1)
      return placeAlone(counter, base, counters.length === 1, culpritFlags(traffic, domain));
    const placement = entryOf(placements, reference, () =>
      place(group.map((member) => wallTimes(counters[member]!, member, traffic, base))),
    );
    return placeInGroup(counter, domain, placement, traffic, base);
  });
  const earliest = Math.floor(placed.map(({ start }) => start).reduce((a, b) => Math.min(a, b)));
  return {
    ...fileAxes(counters),
    traceStart: base + BigInt(earliest),
    domains: placed.map((one, domain) => toDomain(counters[domain]!, one, earliest, referenceOf(domain))),
  };
}

function fileAxes(counters: readonly SharedCounter[]): { scales: TickScale[]; domainOf: number[] } {
  const scales: TickScale[] = [];
  const domainOf: number[] = [];
  counters.forEach(({ witnesses, origin, nsPerTick }, domain) => {
    for (const { file, header } of witnesses) {
      scales[file] = { offset: Number(header.tickBase - origin) * nsPerTick, nsPerTick };
      domainOf[file] = domain;
    }
  });
  return { scales, domainOf };
}

/** Uses only the first sample, because a line would follow every step of the wall clock. */
function coarseOffsets(counters: readonly SharedCounter[]): number[] {
  const base = counters[0]?.realtimeBase ?? 0n;
  return counters.map(({ samples, realtimeBase }) => {
    const first = samples.reduce((a, b) => (b.x < a.x ? b : a));
    return Number(realtimeBase - base) + first.y - first.x;
  });
}

export function toLocal(scale: TickScale, tick: number): LocalNs {
  return localNs(scale.offset + tick * scale.nsPerTick);
}

/**
 * A file's ticks on the trace's axis: `toTrace` of `toLocal`. It is meant for many ticks that mostly follow each other, so it searches a
 * segment only when a tick lies outside of the last one.
 */
export function traceTime(map: ClockMap, { offset, nsPerTick }: TickScale): (tick: number) => TraceNs {
  const isSingle = map.segments.length === 1;
  let segment = map.segments[0]!;
  return (tick) => {
    const local = localNs(offset + tick * nsPerTick);
    if (!isSingle && !(segment.from <= local && local < segment.to)) segment = segmentAt(map, local);
    return toTraceIn(segment, local);
  };
}

export const domainOfFile = ({ domains, domainOf }: ClockSolution, file: number): ClockDomain =>
  domains[domainOf[file]!]!;

export const traceTimeOf = (solution: ClockSolution, file: number): ((tick: number) => TraceNs) =>
  traceTime(domainOfFile(solution, file).map, solution.scales[file]!);

const nameOf = ({ witnesses }: SharedCounter): string => {
  const { hostName, process, tickSource } = witnesses[0]!.header;
  return `${hostName} ${process.bootId.slice(0, 8)} ${tickSource}`;
};

interface Placed {
  /** Their offsets count from the base of REALTIME. */
  readonly segments: readonly ClockSegment[];
  /** Where LocalNs 0 lies, counted from that base. */
  readonly start: number;
  readonly realtimeResidual: number;
}

/** `isOnly`: there is only one domain, so nothing needs alignment and its times are certain. */
function placeAlone(
  { line, realtimeBase, flags }: SharedCounter,
  base: bigint,
  isOnly: boolean,
  culpritFlags: readonly string[],
): Placed {
  const start = line.at(0) + Number(realtimeBase - base);
  const bound = isOnly ? 0 : Infinity;
  const segment: ClockSegment = {
    from: localNs(0),
    to: localNs(Infinity),
    offset: start,
    drift: line.slope - 1,
    hardBound: bound,
    bound99: bound,
    source: isOnly ? 'own-counter' : 'realtime',
    flags: distinct([
      ...flags,
      ...culpritFlags,
      ...(line.residual > STEPPED_NS ? ['realtime-stepped'] : []),
      ...(isOnly ? [] : ['realtime-only']),
    ]),
  };
  return { segments: [segment], start, realtimeResidual: line.residual };
}

function culpritFlags(traffic: TrafficClocks | null, domain: number): string[] {
  const flags = (traffic?.alignment.culprits ?? []).flatMap((culprit) => {
    if (culprit.what === 'clock-unsteady') return culprit.domains.includes(domain) ? ['clock-unsteady'] : [];
    const jumped = culprit.what === 'clock-jump' && (culprit.domain === domain || culprit.other === domain);
    return jumped ? ['clock-jumped'] : [];
  });
  return distinct(flags);
}

const distinct = (flags: readonly string[]): string[] => [...new Set(flags)];

function placeInGroup(
  counter: SharedCounter,
  domain: number,
  placement: Placement,
  traffic: TrafficClocks,
  base: bigint,
): Placed {
  const { restless, drift } = wallClock(wallTimes(counter, domain, traffic, base), placement);
  const flags = distinct([
    ...counter.flags,
    ...(restless > STEPPED_NS ? ['realtime-stepped'] : []),
    ...(Math.abs(drift) > SLEWED ? ['realtime-slewed'] : []),
    ...(traffic.alignment.sure[domain]! ? [] : ['bound-by-credits']),
    ...culpritFlags(traffic, domain),
  ]);
  const at = (local: number): number => {
    const axis = onAxis(traffic, domain, local);
    return placement.offset + axis + placement.drift * axis;
  };
  const times = counter.samples.map(({ x }) => x);
  const recorded = { from: minOf(times, 0), to: maxOf(times) };
  return {
    segments: alignedSegments(domain, traffic, recorded, at, flags),
    start: at(0),
    realtimeResidual: restless,
  };
}

/** The times of a host's wall clock, over the axis of its group. */
function wallTimes(
  { samples, realtimeBase }: SharedCounter,
  domain: number,
  traffic: TrafficClocks,
  base: bigint,
): Point[] {
  const shift = Number(realtimeBase - base);
  return samples.map(({ x, y, weight }) => ({ x: onAxis(traffic, domain, x), y: y + shift, weight }));
}

/** `earliest`: the place of TraceNs 0, counted like the offsets. */
function toDomain(
  counter: SharedCounter,
  { segments, realtimeResidual }: Placed,
  earliest: number,
  group: number,
): ClockDomain {
  const name = nameOf(counter);
  return {
    name,
    hostName: counter.witnesses[0]!.header.hostName,
    files: counter.witnesses.map(({ file }) => file),
    samples: counter.samples.length,
    realtimeResidual,
    group,
    map: { domain: name, segments: segments.map((s) => ({ ...s, offset: s.offset - earliest })) },
  };
}
