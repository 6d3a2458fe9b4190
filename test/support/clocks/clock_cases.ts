/** The cases of `npm run bench:clocks` with simulated links; a few draws of each are tests. */

import { supportLine } from '../../../src/clocks/gpu_clock.js';
import { HullCollector } from '../../../src/clocks/lower_hull.js';
import { align, ALIGNMENT_DEFAULTS, type Alignment } from '../../../src/clocks/alignment.js';
import { WAITED_CREDIT } from '../../../src/clocks/evidence.js';
import {
  checkAll,
  median,
  normal,
  quantile,
  ring,
  seeded,
  simulate,
  SMALL_SIZES,
  tree,
  type Check,
  type Random,
  type SimulatedLink,
  type Simulation,
} from './simulated_links.js';

export interface CaseResult {
  readonly name: string;
  readonly figures: string;
  readonly medianNs: number;
  readonly worstNs: number;
  /** Pairs × instants outside the hard bound. */
  readonly hardMisses: number;
  /** Part of pairs × instants inside the 99 % bound. */
  readonly coverage: number;
  readonly culprits: number;
}

interface Case {
  readonly name: string;
  readonly draws: number;
  readonly links: (random: Random) => SimulatedLink[];
  readonly hosts?: number;
  readonly seconds?: number;
  readonly extra?: (seed: number) => Partial<Simulation>;
  /** A figure that only this case has. */
  readonly also?: (alignments: readonly Alignment[]) => string;
}

const HOSTS = 8;
/** Base delays around 14 µs: a data-centre network and its software. */
const BASE = 14_000;

const uniform =
  (spread: number) =>
  (random: Random): number =>
    BASE * (1 + spread * (2 * random() - 1));
/** `spread`: one standard error. */
const gaussian =
  (spread: number) =>
  (random: Random): number =>
    BASE * Math.max(0.1, 1 + spread * normal(random));
const exponential = (random: Random): number => 2000 - 10_000 * Math.log(1 - random());

const ringOf =
  (delay: (random: Random) => number) =>
  (random: Random): SimulatedLink[] =>
    ring(HOSTS, () => delay(random));
const slowLink = (random: Random): SimulatedLink[] =>
  ring(HOSTS, (i) => uniform(0.15)(random) + (i === 3 ? 40_000 : 0));
const treeOf =
  (delay: (random: Random) => number) =>
  (random: Random): SimulatedLink[] =>
    tree(HOSTS, () => delay(random));
/** Credits, back along the ring: a sender sees room as soon as it is there. */
const creditsOf =
  (delay: (random: Random) => number) =>
  (random: Random): SimulatedLink[] =>
    ringOf(delay)(random).map(({ from, to, delay: own }) => ({
      from: to,
      to: from,
      delay: 0.6 * own,
      kind: 'credit' as const,
      like: WAITED_CREDIT,
    }));
const join =
  (...parts: ((random: Random) => SimulatedLink[])[]) =>
  (random: Random): SimulatedLink[] =>
    parts.flatMap((part) => part(random));

function cases(smoke: boolean): Case[] {
  const few = smoke ? 2 : 20;
  const many = smoke ? 3 : 70;
  const hour = smoke ? 240 : 3600;
  return [
    { name: 'ring of 8, spread 0.15 uniform, 60 s', draws: few, links: ringOf(uniform(0.15)) },
    ...[0.1, 0.2, 0.35].map((spread) => ({
      name: `ring of 8, spread ${spread} (standard error)`,
      draws: many,
      links: ringOf(gaussian(spread)),
    })),
    ...[0.1, 0.2, 0.35].map((spread) => ({
      name: `ring of 8 with credits, spread ${spread} (standard error)`,
      draws: many,
      links: join(ringOf(gaussian(spread)), creditsOf(gaussian(spread))),
    })),
    {
      name: 'chain of 8 with credits, spread 0.2 (standard error)',
      draws: few,
      links: (random) =>
        join(
          ringOf(gaussian(0.2)),
          creditsOf(gaussian(0.2)),
        )(random).filter(({ from, to }) => Math.abs(from - to) === 1),
    },
    { name: 'assumption broken: exponential delays, ring', draws: few, links: ringOf(exponential) },
    { name: 'assumption broken: one link +40 us, ring', draws: few, links: slowLink },
    {
      name: 'one link +40 us, ring with credits',
      draws: few,
      links: join(slowLink, creditsOf(uniform(0.15))),
      also: namesLink(3, 4),
    },
    {
      name: 'exponential delays, ring with credits',
      draws: few,
      links: join(ringOf(exponential), creditsOf(exponential)),
    },
    {
      name: 'one link +40 us, ring and tree',
      draws: few,
      links: join(slowLink, treeOf(uniform(0.15))),
      also: namesLink(3, 4),
    },
    {
      name: 'exponential delays, ring and tree',
      draws: few,
      links: join(ringOf(exponential), treeOf(exponential)),
    },
    {
      name: '2 hosts, both ways',
      draws: few,
      hosts: 2,
      links: (random) => ring(2, () => uniform(0.15)(random)),
    },
    {
      name: '2 hosts, both ways, 1 MiB only',
      draws: few,
      hosts: 2,
      links: (random) => ring(2, () => uniform(0.15)(random)),
      extra: () => ({ sizes: [1 << 20] }),
    },
    {
      name: '5 % of pairs lost, 5 % of seconds lost',
      draws: few,
      links: ringOf(uniform(0.15)),
      extra: (seed) => ({ tamper: losing(seed) }),
    },
    {
      name: 'a host jumps by 5 ms, ring and tree',
      draws: few,
      links: join(ringOf(uniform(0.15)), treeOf(uniform(0.15))),
      extra: () => ({ wander: (host, time) => (host === 3 && time > 31e9 ? 5e6 : 0) }),
      also: (alignments) =>
        `named ${alignments.filter(({ culprits: [c] }) => c?.what === 'clock-jump' && c.domain === 3).length}`,
    },
    {
      name: 'wrong pairs on one link, 3 ms early, ring and tree',
      draws: few,
      links: join(ringOf(uniform(0.15)), treeOf(uniform(0.15))),
      extra: () => ({
        tamper: ({ from, to }, time, delay) =>
          from === 3 && to === 4 && time > 20e9 && time < 21e9 ? delay - 3e6 : delay,
      }),
      also: (alignments) =>
        `named ${alignments.filter(({ culprits: [c] }) => c?.what === 'link' && c.from === 3 && c.to === 4).length}`,
    },
    {
      name: `rate random walk 0.1 ppm/sqrt(min), ${hour / 60} min`,
      draws: smoke ? 1 : 6,
      seconds: hour,
      links: ringOf(uniform(0.15)),
      extra: (seed) => ({ wander: randomWalk(seed, hour) }),
    },
    {
      name: `rate ramp 0.1 ppm/min, ${hour / 60} min`,
      draws: smoke ? 1 : 6,
      seconds: hour,
      links: ringOf(uniform(0.15)),
      extra: () => ({ wander: (host, time) => ((host % 2 ? 1 : -1) * RAMP * time * time) / 2 }),
    },
  ];
}

/** 0.1 ppm a minute, 1/ns. */
const RAMP = 1e-7 / 60e9;

/** `only`: the cases whose name matches. */
export function simulatedCases(smoke: boolean, only = /./): CaseResult[] {
  return cases(smoke)
    .filter(({ name }) => only.test(name))
    .map(runCase);
}

function runCase({ name, draws, links, hosts = HOSTS, seconds = 60, extra, also }: Case): CaseResult {
  const checks: Check[] = [];
  const alignments: Alignment[] = [];
  for (let seed = 1; seed <= draws; seed++) {
    const random = seeded(1000 + seed);
    const run = simulate({
      seed,
      hosts,
      seconds,
      perMinute: 400,
      sizes: SMALL_SIZES,
      links: links(random),
      ...extra?.(seed),
    });
    const alignment = align(hosts, run.edges);
    alignments.push(alignment);
    checks.push(...checkAll(run, alignment));
  }
  return { name, ...summarize(checks, alignments, also?.(alignments) ?? '') };
}

function summarize(checks: readonly Check[], alignments: readonly Alignment[], also: string) {
  const culprits = alignments.reduce((sum, alignment) => sum + alignment.culprits.length, 0);
  return summarizeChecks(checks, alignments.length, culprits, also);
}

export function summarizeChecks(checks: readonly Check[], draws: number, culprits: number, also: string) {
  const errors = checks.map(({ error }) => Math.abs(error));
  const hardMisses = checks.filter(({ insideHard }) => !insideHard).length;
  const coverage = checks.filter(({ insideLikely }) => insideLikely).length / checks.length;
  const us = (ns: number): string => (ns / 1e3).toFixed(2);
  const figures =
    `median ${us(median(errors))} worst ${us(quantile(errors, 1))} us, ` +
    `hard: ${hardMisses} misses, half-width ${us(median(checks.map((c) => c.hardHalfWidth)))} us, ` +
    `99 %: ${(100 * coverage).toFixed(2)} % inside, half-width ${us(median(checks.map((c) => c.likelyHalfWidth)))} us, ` +
    `${checks.length} pairs x instants of ${draws} draws, ${culprits} left out${also === '' ? '' : `, ${also}`}`;
  return {
    figures,
    medianNs: median(errors),
    worstNs: quantile(errors, 1),
    hardMisses,
    coverage,
    culprits,
  };
}

function namesLink(from: number, to: number) {
  return (alignments: readonly Alignment[]): string => {
    const named = alignments.filter(({ unlike }) =>
      unlike.some((link) => link.from === from && link.to === to),
    ).length;
    const others = alignments.reduce(
      (sum, { unlike }) => sum + unlike.filter((link) => link.from !== from || link.to !== to).length,
      0,
    );
    return `named ${named}, falsely ${others}`;
  };
}

/** 5 % of messages, and all of one second in twenty. */
function losing(seed: number): NonNullable<Simulation['tamper']> {
  const random = seeded(seed + 500);
  return (_, time, delay) => (random() < 0.05 || Math.floor(time / 1e9) % 20 === 7 ? null : delay);
}

/** Clocks whose rates take a normal step each second. */
function randomWalk(seed: number, seconds: number): NonNullable<Simulation['wander']> {
  const random = seeded(seed + 900);
  const walks = Array.from({ length: HOSTS }, () => {
    const phases = new Float64Array(seconds + 3);
    let rate = 0;
    for (let second = 1; second < phases.length; second++) {
      phases[second] = phases[second - 1]! + rate * 1e9;
      rate += (1e-7 / Math.sqrt(60)) * normal(random);
    }
    return phases;
  });
  return (host, time) => {
    const second = Math.min(seconds + 1, Math.floor(time / 1e9));
    const phases = walks[host]!;
    return phases[second]! + (phases[second + 1]! - phases[second]!) * (time / 1e9 - second);
  };
}

/**
 * A GPU's timer against its host's clock. Stamps of kernels come in steps of a microsecond. A thread notices each stamp
 * `FLOOR` later at the earliest. Nothing distinguishes the floor from an offset.
 */
export function gpuCase(draws: number): CaseResult {
  const FLOOR = 3000;
  const GRANULARITY = 1000;
  const beyond: number[] = [];
  let early = 0;
  for (let seed = 1; seed <= draws; seed++) {
    const random = seeded(3000 + seed);
    const drift = (random() - 0.5) * 100e-6;
    const offset = (random() - 0.5) * 1e9;
    const hull = new HullCollector();
    for (let i = 0; i < 6000; i++) {
      const stamped = i * 1e7;
      const noticed = stamped + FLOOR - 20_000 * Math.log(1 - random());
      const gpu = Math.floor((stamped - offset - drift * stamped) / GRANULARITY) * GRANULARITY;
      hull.add(noticed, noticed - gpu);
    }
    const line = supportLine(hull.hull())!;
    for (let time = 0; time <= 60e9; time += 3e9) {
      // The line gives cpu - gpu at cpu time; what it adds beyond the truth makes GPU times late.
      const late = line.offset + line.drift * time - (offset + drift * time);
      beyond.push(late - FLOOR);
      if (late < -1) early++;
    }
  }
  const inside = beyond.filter((ns) => ns <= 500 + GRANULARITY).length / beyond.length;
  const us = (ns: number): string => (ns / 1e3).toFixed(2);
  return {
    name: 'GPU, 50 ppm, 1 us granularity, floor 3 us, 60 s',
    figures:
      `late beyond the floor: median ${us(median(beyond))} worst ${us(quantile(beyond, 1))} us ` +
      `(granularity included), early ${early} times, ${(100 * inside).toFixed(2)} % within floor + 0.5 us + granularity, ${draws} draws`,
    medianNs: median(beyond),
    worstNs: quantile(beyond, 1),
    hardMisses: early,
    coverage: inside,
    culprits: 0,
  };
}

/** Many hosts: a ring, a tree and random pairs. Measures the time of the solution, and what one more knot costs. */
export function scaleCase(hosts: number): CaseResult {
  const random = seeded(4);
  const pairs = Array.from({ length: 2 * hosts }, (_, i): SimulatedLink[] => {
    const other = Math.floor(random() * hosts);
    if (other === i % hosts) return [];
    return [
      { from: i % hosts, to: other, delay: uniform(0.15)(random) },
      { from: other, to: i % hosts, delay: uniform(0.15)(random) },
    ];
  }).flat();
  const links = [
    ...ring(hosts, () => uniform(0.15)(random)),
    ...tree(hosts, () => uniform(0.15)(random)),
    ...pairs,
  ];
  const timed = (seconds: number) => {
    const run = simulate({ seed: 9, hosts, links, seconds, perMinute: 200, maxWindows: (seconds / 60) * 12 });
    const start = process.cpuUsage();
    const alignment = align(hosts, run.edges, ALIGNMENT_DEFAULTS);
    // CPU time, because wall time would include other programs of the machine.
    const { user, system } = process.cpuUsage(start);
    return { run, alignment, ms: (user + system) / 1e3 };
  };
  const one = timed(60);
  const longer = timed(180);
  const knots = longer.alignment.knots.count - one.alignment.knots.count;
  const { run, alignment } = one;
  const checks = checkAll(run, alignment, (a, b) => a === 0 && b % Math.ceil(hosts / 16) === 1);
  const result = summarize(checks, [alignment], '');
  const perKnot = (longer.ms - one.ms) / Math.max(1, knots);
  const memory = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
  return {
    ...result,
    name: `${hosts} hosts, ring, tree, random pairs: ${links.length} links`,
    figures:
      `${(one.ms / 1e3).toFixed(2)} s of CPU time for ${alignment.knots.count} knots, ${(perKnot / 1e3).toFixed(2)} s per further knot, ` +
      `${memory} MiB with the simulation; ${result.figures}`,
  };
}

/** Many hosts in a ring, with nothing beside it: each link adds its error. */
export function ringCase(hosts: number): CaseResult {
  const random = seeded(4);
  const links = ring(hosts, () => uniform(0.15)(random));
  const run = simulate({ seed: 9, hosts, links, seconds: 60, perMinute: 200 });
  const start = process.cpuUsage();
  const alignment = align(hosts, run.edges);
  const { user, system } = process.cpuUsage(start);
  const sparse = Math.ceil(hosts / 16);
  const checks = checkAll(run, alignment, (a, b) => a % sparse === 0 && b % sparse === 0);
  const result = summarize(checks, [alignment], '');
  return {
    ...result,
    name: `${hosts} hosts, a ring alone`,
    figures: `${((user + system) / 1e6).toFixed(2)} s of CPU time; ${result.figures}`,
  };
}
