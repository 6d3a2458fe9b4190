/**
 * Which processes share a counter, and so a clock domain: processes of one boot with one tick source. Their own samples of tick, REALTIME
 * and MONOTONIC must *confirm* this. A process with contradicting samples (a VM snapshot, a migration) is split off and flagged. Transfers
 * distinguish clones whose samples agree (evidence/clones.ts).
 */

import { addTo } from '../base/grouped.js';
import { median } from '../base/median.js';
import type { ClockSample, RankFileHeader } from '../rankfile/file_types.js';
import { fitLine, type Line, type Point } from './fit.js';

/** What a scanned file says about its clock. */
export interface ClockWitness {
  /** Index of the file in the run. */
  readonly file: number;
  readonly header: Pick<RankFileHeader, 'process' | 'tickSource' | 'tickHz' | 'tickBase' | 'hostName'>;
  /** Not empty. */
  readonly samples: readonly ClockSample[];
  /** Number of its machine, if transfers show that several machines have its boot id. */
  readonly clone?: string;
}

/** A clock domain before it is placed. LocalNs count from `origin`. */
export interface SharedCounter {
  readonly witnesses: readonly ClockWitness[];
  /** The least value of the counter at which one of them began. */
  readonly origin: bigint;
  readonly nsPerTick: number;
  /** REALTIME, ns: what `line` and `samples` count from. */
  readonly realtimeBase: bigint;
  /** x: LocalNs, y: REALTIME, of all witnesses, without samples a day and more from most: somebody set the date in mid-run. */
  readonly samples: readonly Point[];
  /** Through the samples. */
  readonly line: Line;
  readonly flags: readonly string[];
}

/**
 * Samples of one boot that disagree by more than this come from different counters. Steps by NTP are smaller, or all processes see them.
 */
const SAME_COUNTER_NS = 50e6;

export function sharedCounters(witnesses: readonly ClockWitness[]): SharedCounter[] {
  return withPossibleDates(groupByBoot(witnesses).flatMap(splitContradictions));
}

/** Processes of one run do not begin a month apart. A machine without a battery begins in 1970 until somebody sets its clock. */
const MOST_APART_NS = 30n * 86_400n * 1_000_000_000n;

/**
 * A counter whose wall clock is more than a month from most gets their date. A trace could not hold such times, and all others would lose
 * precision. Of two dates the later one counts.
 */
function withPossibleDates(counters: readonly SharedCounter[]): SharedCounter[] {
  const dates = counters.map(({ realtimeBase }) => realtimeBase).sort((a, b) => (a < b ? -1 : 1));
  const usual = dates[dates.length >> 1];
  return counters.map((counter) => {
    const apart = usual === undefined ? 0n : counter.realtimeBase - usual;
    const isPossible = apart < MOST_APART_NS && -apart < MOST_APART_NS;
    return isPossible
      ? counter
      : { ...counter, realtimeBase: usual!, flags: [...counter.flags, 'realtime-impossible'] };
  });
}

function groupByBoot(witnesses: readonly ClockWitness[]): ClockWitness[][] {
  const groups = new Map<string, ClockWitness[]>();
  for (const one of witnesses)
    addTo(groups, `${one.header.process.bootId} ${one.header.tickSource} ${one.clone ?? ''}`, one);
  return [...groups.values()];
}

/** Splits off the processes that contradict the first one, until the processes of every group agree. */
function splitContradictions(group: readonly ClockWitness[]): SharedCounter[] {
  const counters: SharedCounter[] = [];
  let rest = [...group];
  while (rest.length > 0) {
    const first = rest[0]!;
    const agreeing = rest.filter((witness) => witness === first || agree(witness, first));
    const isWhole = counters.length === 0 && agreeing.length === rest.length && first.clone === undefined;
    counters.push(counterOf(agreeing, isWhole ? [] : ['counter-contradicts-boot']));
    rest = rest.filter((witness) => !agreeing.includes(witness));
  }
  return counters;
}

type WallClock = 'realtime' | 'monotonic';

/**
 * Two processes agree if either clock agrees. REALTIME may be set in mid-run, and the processes of the host sample it at different ticks.
 * MONOTONIC may differ by an offset between containers.
 */
const agree = (witness: ClockWitness, reference: ClockWitness): boolean =>
  agreeOn('realtime', witness, reference) || agreeOn('monotonic', witness, reference);

function agreeOn(clock: WallClock, witness: ClockWitness, reference: ClockWitness): boolean {
  const base = reference.samples[0]![clock];
  const known = pointsOf(reference, reference.header, clock, base);
  const { slope } = fitLine(known);
  return pointsOf(witness, reference.header, clock, base).every(
    ({ x, y }) => Math.abs(between(known, slope, x) - y) < SAME_COUNTER_NS,
  );
}

/**
 * REALTIME at `x`, from the samples next to it, because a clock that is slewed for long strays from any one line. `slope`: before the first
 * and after the last sample.
 */
function between(samples: readonly Point[], slope: number, x: number): number {
  const at = samples.findIndex((sample) => sample.x > x);
  const before = samples.at(at < 0 ? -1 : at - 1)!;
  const behind = samples[at];
  if (at === 0) return samples[0]!.y - slope * (samples[0]!.x - x);
  if (!behind) return before.y + slope * (x - before.x);
  return before.y + ((behind.y - before.y) * (x - before.x)) / (behind.x - before.x);
}

/** x: ns of the counter since `origin`, y: ns of the wall clock since `base`. */
function pointsOf(
  { header, samples }: ClockWitness,
  origin: Pick<RankFileHeader, 'tickBase' | 'tickHz'>,
  clock: WallClock,
  base: bigint,
): Point[] {
  const nsPerTick = 1e9 / origin.tickHz;
  const offset = Number(header.tickBase - origin.tickBase) * nsPerTick;
  return samples.map((sample) => ({
    x: offset + sample.tick * nsPerTick,
    y: Number(sample[clock] - base),
    weight: 1 / (1 + sample.width * nsPerTick),
  }));
}

/** The counter of processes that agree; not empty. */
function counterOf(witnesses: readonly ClockWitness[], flags: readonly string[]): SharedCounter {
  const origin = witnesses.map(({ header }) => header.tickBase).reduce((a, b) => (b < a ? b : a));
  // Each process measured the rate for itself.
  const nsPerTick = 1e9 / median(witnesses.map(({ header }) => header.tickHz))!;
  const common = { tickBase: origin, tickHz: 1e9 / nsPerTick };
  const pointsFrom = (base: bigint): Point[] =>
    witnesses.flatMap((witness) => pointsOf(witness, common, 'realtime', base));
  const first = witnesses[0]!.samples[0]!.realtime;
  const offsets = pointsFrom(first)
    .map(({ x, y }) => y - x)
    .sort((a, b) => a - b);
  // The later one of two, because a date is set forward. The first sample stays the base unless its date was wrong.
  const usual = offsets[offsets.length >> 1]!;
  const isUsual = Math.abs(usual) < DAY_NS;
  const realtimeBase = isUsual ? first : first + BigInt(Math.round(usual));
  const all = pointsFrom(realtimeBase);
  const samples = all.filter(({ x, y }) => Math.abs(y - x - (isUsual ? usual : 0)) < DAY_NS);
  const set = samples.length < all.length ? ['realtime-stepped'] : [];
  return {
    witnesses,
    origin,
    nsPerTick,
    realtimeBase,
    samples,
    line: fitLine(samples),
    flags: [...flags, ...set],
  };
}

const DAY_NS = 86_400e9;
