/**
 * Which processes share a clock, and where each clock lies on the trace's axis.
 *
 * Processes of one boot with one tick source read the same counter: a domain. That is *confirmed* by their own
 * samples of tick, REALTIME and MONOTONIC: a process whose samples contradict the others' (a VM snapshot, a migration) is split off and
 * flagged. Inside a domain alignment is exact. Domains among each other are aligned by the traffic between them
 * (alignment.ts); groups of domains, and domains without evidence, are placed by REALTIME and say so.
 *
 * Steps and slews of the wall clock move the absolute axis but never bend the relative times: a domain by itself has one
 * line REALTIME = a + b * local over the whole run, a group goes by medians (placement.ts).
 */

import { localNs, type LocalNs, type TraceNs } from '../base/time.js';
import { median } from '../base/median.js';
import type { ClockSample, RankFileHeader } from '../reader/types.js';
import type { Alignment } from './alignment.js';
import { MAX_RATE } from './arc_limit.js';
import { segmentAt, toTraceIn, type ClockMap, type ClockSegment } from './clock_map.js';
import { correctionAt, knotTime } from './corrections.js';
import { fitLine, type Line, type Point } from './fit.js';
import { place, SLEWED, wallClock, type Placement } from './placement.js';

/** What a scanned file says about its clock. */
export interface ClockWitness {
  /** Index of the file in the run. */
  readonly file: number;
  readonly header: Pick<RankFileHeader, 'process' | 'tickSource' | 'tickHz' | 'tickBase' | 'hostName'>;
  readonly samples: readonly ClockSample[];
}

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
  /** Largest |sample - line| of REALTIME, ns: how restless the wall clock was. */
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

/** Samples of one boot that disagree by more than this are not of one counter. NTP steps are smaller or visible to all. */
const SAME_COUNTER_NS = 50e6;

/** Beyond what NTP slews: the wall clock was set. Relative times do not follow it, the absolute axis is in doubt. */
const STEPPED_NS = 10e6;

interface Draft {
  readonly witnesses: ClockWitness[];
  readonly origin: bigint;
  readonly nsPerTick: number;
  readonly flags: string[];
  /** REALTIME ns, relative to `realtimeBase`, over LocalNs. */
  readonly line: Line;
  readonly realtimeBase: bigint;
  /** x: LocalNs, y: REALTIME since `realtimeBase`. */
  readonly samples: readonly Point[];
}

/** Domains before they are aligned. */
export interface ClockAxes {
  /** By file index. */
  readonly scales: readonly TickScale[];
  readonly domainOf: readonly number[];
  /** Per domain: LocalNs + this is one axis for all, as good as the wall clocks were at the start. */
  readonly coarse: readonly number[];
  /** Per domain, for people. */
  readonly names: readonly string[];
}

/** What the traffic between domains says, and the coarse axis it says it on. */
export interface TrafficClocks {
  readonly alignment: Alignment;
  readonly coarse: readonly number[];
}

export function clockAxes(witnesses: readonly ClockWitness[]): ClockAxes {
  const drafts = findDomains(witnesses);
  return { ...fileAxes(drafts), coarse: coarseOffsets(drafts), names: drafts.map(nameOf) };
}

/** `traffic`: null where wall clocks are all there is. */
export function solveClocks(
  witnesses: readonly ClockWitness[],
  traffic: TrafficClocks | null = null,
): ClockSolution {
  const drafts = findDomains(witnesses);
  const base = drafts.map(({ realtimeBase }) => realtimeBase).reduce((a, b) => (b < a ? b : a));
  const placements = new Map<number, Placement>();
  const placed = drafts.map((draft, index) => {
    const group = traffic ? groupOf(traffic.alignment, index) : [];
    if (!traffic || group.length <= 1)
      return placeAlone(draft, base, drafts.length === 1, culpritFlags(traffic, index));
    const [first] = group as [number];
    const placement =
      placements.get(first) ??
      place(group.map((domain) => wallTimes(drafts[domain]!, domain, traffic, base)));
    placements.set(first, placement);
    return placeInGroup(draft, index, placement, traffic, base);
  });
  const earliest = Math.floor(placed.map(({ start }) => start).reduce((a, b) => Math.min(a, b)));
  return {
    ...fileAxes(drafts),
    traceStart: base + BigInt(earliest),
    domains: placed.map(({ segments, realtimeResidual }, index) =>
      toDomain(
        drafts[index]!,
        segments,
        realtimeResidual,
        earliest,
        traffic?.alignment.references[index] ?? index,
      ),
    ),
  };
}

function findDomains(witnesses: readonly ClockWitness[]): Draft[] {
  return groupByCounter(witnesses).flatMap(splitContradictions);
}

function fileAxes(drafts: readonly Draft[]): { scales: TickScale[]; domainOf: number[] } {
  const scales: TickScale[] = [];
  const domainOf: number[] = [];
  drafts.forEach((draft, index) => {
    for (const witness of draft.witnesses) {
      scales[witness.file] = {
        offset: Number(witness.header.tickBase - draft.origin) * draft.nsPerTick,
        nsPerTick: draft.nsPerTick,
      };
      domainOf[witness.file] = index;
    }
  });
  return { scales, domainOf };
}

/** By the first sample alone: a line would follow every step of the wall clock. */
function coarseOffsets(drafts: readonly Draft[]): number[] {
  const base = drafts[0]?.realtimeBase ?? 0n;
  return drafts.map(({ samples, realtimeBase }) => {
    const first = samples.reduce((a, b) => (b.x < a.x ? b : a));
    return Number(realtimeBase - base) + first.y - first.x;
  });
}

export function toLocal(scale: TickScale, tick: number): LocalNs {
  return localNs(scale.offset + tick * scale.nsPerTick);
}

/**
 * A file's ticks on the trace's axis: `toTrace` of `toLocal`, for many ticks that mostly follow one another, so the
 * segment is only looked for when a tick lies outside the last one.
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

function groupByCounter(witnesses: readonly ClockWitness[]): ClockWitness[][] {
  const groups = new Map<string, ClockWitness[]>();
  for (const witness of witnesses) {
    const key = `${witness.header.process.bootId} ${witness.header.tickSource}`;
    const group = groups.get(key);
    if (group) group.push(witness);
    else groups.set(key, [witness]);
  }
  return [...groups.values()];
}

/** Peels off the processes that contradict the first one, until every group agrees in itself. */
function splitContradictions(group: readonly ClockWitness[]): Draft[] {
  const drafts: Draft[] = [];
  let rest = [...group];
  while (rest.length > 0) {
    const first = rest[0]!;
    const agreeing = rest.filter((witness) => witness === first || agree(witness, first));
    const flags = drafts.length > 0 || agreeing.length < rest.length ? ['counter-contradicts-boot'] : [];
    drafts.push(draft(agreeing, flags));
    rest = rest.filter((witness) => !agreeing.includes(witness));
  }
  return drafts;
}

/**
 * By either clock: REALTIME may be stepped in mid-run (seen by all processes of the host, but sampled at different ticks),
 * MONOTONIC may differ by an offset between containers.
 */
function agree(witness: ClockWitness, reference: ClockWitness): boolean {
  return (['realtime', 'monotonic'] as const).some((clock) => agreesOn(clock, witness, reference));
}

function agreesOn(clock: 'realtime' | 'monotonic', witness: ClockWitness, reference: ClockWitness): boolean {
  const base = reference.samples[0]![clock];
  const known = points(reference, reference, clock, base);
  const { slope } = fitLine(known);
  return points(witness, reference, clock, base).every(
    ({ x, y }) => Math.abs(between(known, slope, x) - y) < SAME_COUNTER_NS,
  );
}

/** What the samples next to `x` say: a clock that is slewed for long strays from any one line. `slope`: before and behind all. */
function between(samples: readonly Point[], slope: number, x: number): number {
  const at = samples.findIndex((sample) => sample.x > x);
  const before = samples.at(at < 0 ? -1 : at - 1)!;
  const behind = samples[at];
  if (at === 0) return samples[0]!.y - slope * (samples[0]!.x - x);
  if (!behind) return before.y + slope * (x - before.x);
  return before.y + ((behind.y - before.y) * (x - before.x)) / (behind.x - before.x);
}

/** Samples of `witness` on the counter of `origin`: x in ns of the counter, y in ns of the clock since `base`. */
function points(
  witness: ClockWitness,
  origin: ClockWitness,
  clock: 'realtime' | 'monotonic',
  base: bigint,
): Point[] {
  const nsPerTick = 1e9 / origin.header.tickHz;
  const offset = Number(witness.header.tickBase - origin.header.tickBase) * nsPerTick;
  return witness.samples.map((sample) => ({
    x: offset + sample.tick * nsPerTick,
    y: Number(sample[clock] - base),
    weight: 1 / (1 + sample.width * nsPerTick),
  }));
}

function draft(witnesses: ClockWitness[], flags: string[]): Draft {
  const first = witnesses[0]!;
  const origin = witnesses.map((w) => w.header.tickBase).reduce((a, b) => (b < a ? b : a));
  const nsPerTick = 1e9 / median(witnesses.map((w) => w.header.tickHz))!;
  const realtimeBase = first.samples[0]!.realtime;
  const common = { ...first, header: { ...first.header, tickBase: origin, tickHz: 1e9 / nsPerTick } };
  const samples = witnesses.flatMap((witness) => points(witness, common, 'realtime', realtimeBase));
  return { witnesses, origin, nsPerTick, flags, realtimeBase, samples, line: fitLine(samples) };
}

const nameOf = ({ witnesses }: Draft): string => {
  const { hostName, process, tickSource } = witnesses[0]!.header;
  return `${hostName} ${process.bootId.slice(0, 8)} ${tickSource}`;
};

interface Placed {
  /** Their offsets count from the base of REALTIME. */
  readonly segments: readonly ClockSegment[];
  /** Of LocalNs 0, since that base. */
  readonly start: number;
  readonly realtimeResidual: number;
}

function placeAlone(draft: Draft, base: bigint, isOnly: boolean, flags: readonly string[]): Placed {
  const { line } = draft;
  const start = line.at(0) + Number(draft.realtimeBase - base);
  const bound = isOnly ? 0 : Infinity;
  const segment: ClockSegment = {
    from: localNs(0),
    to: localNs(Infinity),
    offset: start,
    drift: line.slope - 1,
    hardBound: bound,
    bound99: bound,
    source: isOnly ? 'own-counter' : 'realtime',
    flags: [
      ...draft.flags,
      ...flags,
      ...(line.residual > STEPPED_NS ? ['realtime-stepped'] : []),
      ...(isOnly ? [] : ['realtime-only']),
    ],
  };
  return { segments: [segment], start, realtimeResidual: line.residual };
}

function groupOf({ references }: Alignment, domain: number): number[] {
  return references.flatMap((reference, other) => (reference === references[domain] ? [other] : []));
}

function culpritFlags(traffic: TrafficClocks | null, domain: number): string[] {
  const restless = traffic?.alignment.restless.includes(domain) ? ['clock-unsteady'] : [];
  const flags = (traffic?.alignment.culprits ?? []).flatMap((culprit) => {
    if (culprit.what === 'clock-unsteady') return culprit.domains.includes(domain) ? ['clock-unsteady'] : [];
    const jumped = culprit.what === 'clock-jump' && (culprit.domain === domain || culprit.other === domain);
    return jumped ? ['clock-jumped'] : [];
  });
  return [...new Set([...restless, ...flags])];
}

/** Its spans, and one before and behind them where the recording reaches farther. */
function placeInGroup(
  draft: Draft,
  index: number,
  placement: Placement,
  traffic: TrafficClocks,
  base: bigint,
): Placed {
  const { restless, drift } = wallClock(wallTimes(draft, index, traffic, base), placement);
  const flags = [
    ...draft.flags,
    ...(restless > STEPPED_NS ? ['realtime-stepped'] : []),
    ...(Math.abs(drift) > SLEWED ? ['realtime-slewed'] : []),
    ...(traffic.alignment.sure[index]! ? [] : ['bound-by-credits']),
    ...culpritFlags(traffic, index),
  ];
  const at = (local: number): number => {
    const axis = onAxis(traffic, index, local);
    return placement.offset + axis + placement.drift * axis;
  };
  return {
    segments: segmentsOf(draft, index, traffic, at, flags),
    start: at(0),
    realtimeResidual: restless,
  };
}

function onAxis({ alignment, coarse }: TrafficClocks, domain: number, local: number): number {
  const time = local + coarse[domain]!;
  return time + correctionAt(alignment.knots, alignment.corrections[domain]!, time);
}

/** What a host's wall clock said, over the axis of its group. */
function wallTimes(
  { samples, realtimeBase }: Draft,
  domain: number,
  traffic: TrafficClocks,
  base: bigint,
): Point[] {
  const shift = Number(realtimeBase - base);
  return samples.map(({ x, y, weight }) => ({ x: onAxis(traffic, domain, x), y: y + shift, weight }));
}

function segmentsOf(
  { samples }: Draft,
  domain: number,
  { alignment, coarse }: TrafficClocks,
  at: (local: number) => number,
  flags: readonly string[],
): ClockSegment[] {
  const { knots, spans, hard, references } = alignment;
  const perPiece = (spans.count - 1) / (knots.count - 1);
  const corrections = alignment.corrections[domain]!;
  const local = (end: number): number => knotTime(spans, end) - coarse[domain]!;
  const segment = (from: number, to: number, span: number, beyond: number): ClockSegment => {
    const piece = Math.floor(span / perPiece);
    const { below, above } = hard[span]![domain]!;
    const likely = alignment.likely(domain, references[domain]!, piece);
    const own = (corrections[piece + 1]! - corrections[piece]!) / knots.step;
    const wider = (width: number): number =>
      references[domain] === domain || beyond === 0
        ? 0
        : beyond * widening(Math.abs(own), width / knots.step, alignment.curvature * (knots.step + beyond));
    // The slope of a piece is off by what its two ends are, to whichever side each of them.
    const spansOfPiece = hard.slice(piece * perPiece, (piece + 1) * perPiece).map((all) => all[domain]!);
    const turn =
      Math.max(...spansOfPiece.map((one) => one.below)) + Math.max(...spansOfPiece.map((one) => one.above));
    const hardBound = Math.max(below, above) + wider(turn);
    return {
      from: localNs(from),
      to: localNs(to),
      offset: at(from) - from,
      drift: (at(to) - at(from)) / (to - from) - 1,
      hardBound,
      bound99: Math.min(hardBound, likely + wider(2 * likely)),
      source: 'traffic',
      flags: [...flags],
    };
  };
  const last = spans.count - 1;
  const inside = Array.from({ length: last }, (_, k) => segment(local(k), local(k + 1), k, 0));
  const start = Math.min(...samples.map(({ x }) => x), 0);
  const end = Math.max(...samples.map(({ x }) => x));
  const before = start < local(0) ? [segment(start, local(0), 0, local(0) - start)] : [];
  const behind = end > local(last) ? [segment(local(last), end, last - 1, end - local(last))] : [];
  return [...before, ...inside, ...behind];
}

/**
 * By how much a bound grows beyond the last evidence, per ns: the slope of the last piece is off by what its ends are, and two
 * rates go on to change as declared, by `curved` each. Two counters are never farther apart than MAX_RATE, and the estimate of them by `own`.
 */
function widening(own: number, slope: number, curved: number): number {
  return Math.min(MAX_RATE + own, slope + 2 * curved);
}

function toDomain(
  draft: Draft,
  segments: readonly ClockSegment[],
  realtimeResidual: number,
  earliest: number,
  group: number,
): ClockDomain {
  const name = nameOf(draft);
  return {
    name,
    hostName: draft.witnesses[0]!.header.hostName,
    files: draft.witnesses.map((w) => w.file),
    samples: draft.samples.length,
    realtimeResidual,
    group,
    map: { domain: name, segments: segments.map((s) => ({ ...s, offset: s.offset - earliest })) },
  };
}
