/**
 * Hosts whose clocks are known, and messages between them. True delays are drawn at random, and stamps are read from
 * each host's clock. It gives the same evidence as a recording, and checks an alignment against the truth.
 */

import type { Alignment } from '../../../src/clocks/alignment.js';
import { apartAt, clocksAt, correctionIn } from '../../../src/clocks/clock_parts.js';
import { knotTime, pieceAt } from '../../../src/clocks/corrections.js';
import {
  EdgeCollector,
  sizeClass,
  type EdgeEvidence,
  type EvidenceKind,
} from '../../../src/clocks/evidence.js';

export type Random = () => number;

export function seeded(seed: number): Random {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export interface SimulatedLink {
  readonly from: number;
  readonly to: number;
  /** Least delay of a small message, ns. */
  readonly delay: number;
  readonly kind?: EvidenceKind;
  /** Default: by kind and size class. */
  readonly like?: string;
  /** Messages a minute; default that of the simulation. */
  readonly perMinute?: number;
  /** Sizes of its messages, bytes; default those of the simulation. */
  readonly sizes?: readonly number[];
}

export interface Simulation {
  readonly seed: number;
  readonly hosts: number;
  readonly links: readonly SimulatedLink[];
  readonly seconds: number;
  readonly perMinute: number;
  /** Sizes of messages, bytes; drawn evenly. */
  readonly sizes?: readonly number[];
  /** How far a clock is from its offset and rate, in ns, at a true time in ns. */
  readonly wander?: (host: number, time: number) => number;
  /** Changes a pair on its way into the evidence; null: lost. */
  readonly tamper?: (link: SimulatedLink, time: number, delay: number) => number | null;
  /** How long a message waits, ns; default: a third hardly, most for tens of µs. */
  readonly waiting?: (random: Random) => number;
  readonly maxWindows?: number;
}

export interface SimulatedRun {
  readonly edges: readonly EdgeEvidence[];
  readonly seconds: number;
  readonly hosts: number;
  /** What the host's clock shows at a true time, ns. */
  readonly clock: (host: number, time: number) => number;
  /** The same clocks with a constant rate. */
  readonly steady: {
    /** The true time at which a host's clock would show `shown`. */
    readonly time: (host: number, shown: number) => number;
  };
}

export const SMALL_SIZES = [4096, 8192, 16_384, 32_768, 65_536];
/** Bytes per ns. */
const BANDWIDTH = 5;

export function simulate(simulation: Simulation): SimulatedRun {
  const random = seeded(simulation.seed);
  const offsets = Array.from({ length: simulation.hosts }, () => (random() - 0.5) * 100e6);
  const rates = Array.from({ length: simulation.hosts }, () => (random() - 0.5) * 100e-6);
  const wander = simulation.wander ?? (() => 0);
  const clock = (host: number, time: number): number =>
    time + offsets[host]! + rates[host]! * time + wander(host, time);
  const edges = simulation.links.flatMap((link) => messages(simulation, link, random, clock));
  const steady = { time: (host: number, shown: number) => (shown - offsets[host]!) / (1 + rates[host]!) };
  return { edges, seconds: simulation.seconds, hosts: simulation.hosts, clock, steady };
}

function messages(
  { seconds, perMinute, sizes = SMALL_SIZES, tamper, waiting = oftenWaiting, maxWindows }: Simulation,
  link: SimulatedLink,
  random: Random,
  clock: SimulatedRun['clock'],
): EdgeEvidence[] {
  const { from, to, kind = 'data' } = link;
  const own = link.sizes ?? sizes;
  const collectors = new Map<string, EdgeCollector>();
  const count = Math.round(((link.perMinute ?? perMinute) * seconds) / 60);
  for (let i = 0; i < count; i++) {
    const sent = random() * seconds * 1e9;
    const size = own[Math.floor(random() * own.length)]!;
    const received = sent + link.delay + size / BANDWIDTH + waiting(random);
    const time = Math.round(clock(from, sent));
    const delay = tamper
      ? tamper(link, sent, Math.round(clock(to, received)) - time)
      : Math.round(clock(to, received)) - time;
    if (delay === null) continue;
    const like = link.like ?? `${kind} ${sizeClass(size)}`;
    let collector = collectors.get(like);
    if (!collector)
      collectors.set(like, (collector = new EdgeCollector({ from, to, kind, like }, maxWindows)));
    collector.add(time, delay, kind === 'data' ? size : undefined);
  }
  return [...collectors.values()].map((collector) => collector.finish());
}

/** A third of the messages wait hardly at all, most wait for tens of µs, some much longer. In ns. */
function oftenWaiting(random: Random): number {
  const kind = random();
  const exponential = (mean: number): number => -mean * Math.log(1 - random());
  if (kind < 0.3) return 50 + exponential(1000);
  if (kind < 0.9) return 1000 + exponential(20_000);
  return 20_000 + 100_000 * ((1 - random()) ** (-1 / 1.5) - 1);
}

export const ring = (hosts: number, delay: (link: number) => number): SimulatedLink[] =>
  Array.from({ length: hosts }, (_, i) => ({ from: i, to: (i + 1) % hosts, delay: delay(i) }));

/** A binary tree, both directions. */
export function tree(hosts: number, delay: () => number): SimulatedLink[] {
  return Array.from({ length: hosts - 1 }, (_, i) => i + 1).flatMap((child) => {
    const parent = (child - 1) >> 1;
    return [
      { from: child, to: parent, delay: delay() },
      { from: parent, to: child, delay: delay() },
    ];
  });
}

/** One pair of hosts at one instant: how wrong the alignment is, and whether its bounds hold. */
export interface Check {
  readonly a: number;
  readonly b: number;
  readonly error: number;
  readonly insideHard: boolean;
  readonly insideLikely: boolean;
  readonly hardHalfWidth: number;
  readonly likelyHalfWidth: number;
}

export interface PieceCheck extends Check {
  /** Where in its piece, one of `SHARES`. */
  readonly share: number;
}

/** Where in each piece pairs are checked. */
export const SHARES = [0.02, 0.25, 0.5, 0.75, 0.98] as const;

/** Checks all `wanted` pairs of hosts of one group, at `SHARES` of each piece. */
export function checkAll(
  run: SimulatedRun,
  alignment: Alignment,
  wanted: (a: number, b: number) => boolean = () => true,
): PieceCheck[] {
  const { knots, references } = alignment;
  const checks: PieceCheck[] = [];
  // Pair after pair, because variances are kept for the last pair only.
  for (let a = 0; a < run.hosts; a++) {
    for (let b = a + 1; b < run.hosts; b++) {
      if (references[a] !== references[b] || !wanted(a, b)) continue;
      for (let piece = 0; piece + 1 < knots.count; piece++) {
        for (const share of SHARES) {
          const time = knotTime(knots, piece + share);
          if (time >= 0 && time <= run.seconds * 1e9)
            checks.push({ ...checkPair(run, alignment, a, b, piece, time), share });
        }
      }
    }
  }
  return checks;
}

function checkPair(
  run: SimulatedRun,
  alignment: Alignment,
  a: number,
  b: number,
  piece: number,
  time: number,
): Check {
  const aligned = (host: number): number => {
    const shown = run.clock(host, time);
    return shown + correctionIn(alignment, alignment.parts[host]!, shown);
  };
  // While a counter jumps, both of its clocks and the distance between them count.
  const clocks = (host: number): number[] =>
    clocksAt(alignment.parts[host]!, run.clock(host, time)).map(({ clock }) => clock);
  const sides = clocks(a).flatMap((x) => clocks(b).map((y) => [x, y] as const));
  const jumped = [a, b].reduce(
    (sum, host) => sum + apartAt(alignment, alignment.parts[host]!, run.clock(host, time)),
    0,
  );
  const error = aligned(b) - aligned(a);
  const hards = sides.map(([x, y]) => hardOfPair(alignment, x, y, pieceAt(alignment.spans, time)));
  const below = jumped + Math.max(...hards.map((hard) => hard.below));
  const above = jumped + Math.max(...hards.map((hard) => hard.above));
  const hard = Math.max(below, above);
  const likely = Math.min(hard, jumped + Math.max(...sides.map(([x, y]) => alignment.likely(x, y, piece))));
  return {
    a,
    b,
    error,
    insideHard: error <= above + 1 && error >= -below - 1,
    insideLikely: Math.abs(error) <= likely + 1,
    hardHalfWidth: (below + above) / 2,
    likelyHalfWidth: likely,
  };
}

const cache = new WeakMap<Alignment, Map<string, { below: number; above: number }>>();

/** Truth minus estimate of a against b. Kept, because it is asked for often. */
function hardOfPair(alignment: Alignment, a: number, b: number, span: number) {
  const known = cache.get(alignment) ?? new Map<string, { below: number; above: number }>();
  cache.set(alignment, known);
  const key = `${a} ${b} ${span}`;
  let interval = known.get(key);
  if (!interval) known.set(key, (interval = alignment.hardBetween(a, b, span)));
  return interval;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
