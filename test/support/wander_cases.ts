/** The cases of `npm run bench:clocks` whose clocks change their rates, each beside the oracle's result. */

import { align, perNs, type Alignment } from '../../src/clocks/alignment.js';
import { WAITED_CREDIT } from '../../src/clocks/evidence.js';
import { oracle } from './oracle.js';
import {
  checkAll,
  median,
  quantile,
  ring,
  seeded,
  simulate,
  SMALL_SIZES,
  type Check,
  type SimulatedLink,
} from './simulated_links.js';
import { ramp, randomWalk, sine, warmUp, type Wander } from './wanders.js';

export interface WanderResult {
  readonly name: string;
  readonly figures: string;
  readonly hardMisses: number;
  readonly coverage: number;
  readonly givenUp: number;
  /** Median and 99 % of the errors, each divided by the oracle's. */
  readonly ratios: readonly [number, number];
}

interface WanderCase {
  readonly name: string;
  readonly ppmPerMinute: number;
  readonly seconds: number;
  readonly wander: (seed: number) => Wander;
}

const HOSTS = 8;
const BASE = 14_000;

export function wanderCases(minutes: number): WanderCase[] {
  const seconds = 60 * minutes;
  const over = `${minutes} min`;
  return [0.1, 0.4, 1, 3].flatMap((ppmPerMinute): WanderCase[] => {
    const of = (name: string, wander: (seed: number) => Wander): WanderCase => ({
      name: `${name} of ${ppmPerMinute} ppm/min, ${over}`,
      ppmPerMinute,
      seconds,
      wander,
    });
    return [
      of('sine over 10 min', (seed) => sine(ppmPerMinute, 600, seed)),
      of('sine over 3 min', (seed) => sine(ppmPerMinute, 180, seed)),
      of('ramp', () => ramp(ppmPerMinute)),
      of('warm-up', () => warmUp(ppmPerMinute, 60)),
      of('random walk', (seed) => randomWalk(ppmPerMinute, HOSTS, seconds, seed)),
    ];
  });
}

/** A ring with credits that senders wait for. */
function links(seed: number): SimulatedLink[] {
  const random = seeded(1000 + seed);
  const delay = (): number => BASE * (1 + 0.15 * (2 * random() - 1));
  const data = ring(HOSTS, delay);
  const credits = data.map(({ from, to }) => ({
    from: to,
    to: from,
    delay: 0.6 * delay(),
    kind: 'credit' as const,
    like: WAITED_CREDIT,
  }));
  return [...data, ...credits];
}

export function runWanderCase(one: WanderCase, draws: number, perMinute = 400): WanderResult {
  const checks: Check[] = [];
  const atBest: number[] = [];
  const measured: number[] = [];
  let givenUp = 0;
  let wanted = 0;
  const start = process.cpuUsage();
  let solving = 0;
  for (let seed = 1; seed <= draws; seed++) {
    const run = simulate({
      seed,
      hosts: HOSTS,
      seconds: one.seconds,
      perMinute,
      sizes: SMALL_SIZES,
      links: links(seed),
      wander: one.wander(seed),
    });
    const before = process.cpuUsage(start);
    const alignment = align(HOSTS, run.edges);
    const after = process.cpuUsage(start);
    solving += (after.user - before.user) / 1e3;
    checks.push(...checkAll(run, alignment));
    givenUp += HOSTS - largestGroup(alignment);
    wanted += HOSTS;
    const instants = Array.from({ length: 40 }, (_, i) => ((i + 0.5) / 40) * one.seconds * 1e9);
    atBest.push(...oracle(run, perNs(one.ppmPerMinute), instants).errors.map(Math.abs));
    measured.push(...alignment.wander.flatMap((seen) => seen ?? []));
  }
  const errors = checks.map(({ error }) => Math.abs(error));
  const us = (ns: number): string => (ns / 1e3).toFixed(2);
  const of = (values: readonly number[]): string =>
    `median ${us(median(values))} 99 % ${us(quantile(values, 0.99))} worst ${us(quantile(values, 1))} us`;
  const hardMisses = checks.filter(({ insideHard }) => !insideHard).length;
  const coverage = checks.filter(({ insideLikely }) => insideLikely).length / checks.length;
  return {
    name: one.name,
    hardMisses,
    coverage,
    givenUp,
    ratios: [median(errors) / median(atBest), quantile(errors, 0.99) / quantile(atBest, 0.99)],
    figures:
      `${of(errors)}, at best ${of(atBest)}, hard: ${hardMisses} misses, half-width ${us(median(checks.map((c) => c.hardHalfWidth)))} us, ` +
      `99 %: ${(100 * coverage).toFixed(2)} % inside, half-width ${us(median(checks.map((c) => c.likelyHalfWidth)))} us, ` +
      `measured ${((median(measured) * 60e9) / 1e-6).toFixed(2)} ppm/min, ${givenUp} of ${wanted} hosts given up, ${(solving / draws).toFixed(0)} ms a solution`,
  };
}

function largestGroup({ references }: Alignment): number {
  return Math.max(...references.map((own) => references.filter((other) => other === own).length));
}
