/**
 * Which processes share a clock, and where each clock lies on the trace's axis.
 *
 * Processes of one boot with one tick source read the same counter: a domain. That is *confirmed* by their own
 * samples of tick, REALTIME and MONOTONIC: a process whose samples contradict the others' (a VM snapshot, a migration) is split off and
 * flagged. Inside a domain alignment is exact. Domains among each other are placed by REALTIME and say so.
 *
 * A domain's line REALTIME = a + b * local is fitted over the whole run, so steps and slews of the wall clock move the
 * absolute axis but never bend the relative times.
 */

import type { LocalNs } from '../base/time.js';
import { localNs } from '../base/time.js';
import type { ClockSample, RankFileHeader } from '../reader/types.js';
import type { ClockMap } from './clock_map.js';
import { fitLine, type Line, type Point } from './fit.js';

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
}

export function solveClocks(witnesses: readonly ClockWitness[]): ClockSolution {
  const drafts = groupByCounter(witnesses).flatMap(splitContradictions);
  const traceStart = drafts.map(earliestRealtime).reduce((a, b) => (b < a ? b : a));
  const scales: TickScale[] = [];
  const domainOf: number[] = [];
  const domains = drafts.map((draft, index) => {
    for (const witness of draft.witnesses) {
      scales[witness.file] = {
        offset: Number(witness.header.tickBase - draft.origin) * draft.nsPerTick,
        nsPerTick: draft.nsPerTick,
      };
      domainOf[witness.file] = index;
    }
    return toDomain(draft, traceStart, drafts.length === 1);
  });
  return { traceStart, domains, scales, domainOf };
}

export function toLocal(scale: TickScale, tick: number): LocalNs {
  return localNs(scale.offset + tick * scale.nsPerTick);
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
  const line = fitLine(points(reference, reference, clock, base));
  return points(witness, reference, clock, base).every(
    ({ x, y }) => Math.abs(line.at(x) - y) < SAME_COUNTER_NS,
  );
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
  const nsPerTick = 1e9 / median(witnesses.map((w) => w.header.tickHz));
  const realtimeBase = first.samples[0]!.realtime;
  const common = { ...first, header: { ...first.header, tickBase: origin, tickHz: 1e9 / nsPerTick } };
  const samples = witnesses.flatMap((witness) => points(witness, common, 'realtime', realtimeBase));
  return { witnesses, origin, nsPerTick, flags, realtimeBase, line: fitLine(samples) };
}

function earliestRealtime(draft: Draft): bigint {
  return draft.realtimeBase + BigInt(Math.floor(draft.line.at(0)));
}

function toDomain(draft: Draft, traceStart: bigint, alone: boolean): ClockDomain {
  const first = draft.witnesses[0]!;
  const name = `${first.header.hostName} ${first.header.process.bootId.slice(0, 8)} ${first.header.tickSource}`;
  const shift = Number(draft.realtimeBase - traceStart);
  const bound = alone ? 0 : Infinity;
  return {
    name,
    hostName: first.header.hostName,
    files: draft.witnesses.map((w) => w.file),
    samples: draft.witnesses.reduce((sum, w) => sum + w.samples.length, 0),
    realtimeResidual: draft.line.residual,
    map: {
      domain: name,
      segments: [
        {
          from: localNs(0),
          to: localNs(Infinity),
          offset: draft.line.at(0) + shift,
          drift: draft.line.slope - 1,
          hardBound: bound,
          bound99: bound,
          source: alone ? 'own-counter' : 'realtime',
          flags: domainFlags(draft, alone),
        },
      ],
    },
  };
}

function domainFlags({ flags, line }: Draft, alone: boolean): string[] {
  const stepped = line.residual > STEPPED_NS ? ['realtime-stepped'] : [];
  return [...flags, ...stepped, ...(alone ? [] : ['realtime-only'])];
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
