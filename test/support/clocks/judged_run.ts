/** Aligns simulated runs and compares the result with the truth and with the oracle (oracle.ts). Several draws make one row of a table. */

import { align, perNs, type Alignment } from '../../../src/clocks/alignment.js';
import { oracle } from './oracle.js';
import {
  checkAll,
  median,
  quantile,
  seeded,
  simulate,
  SMALL_SIZES,
  type Check,
  type Simulation,
} from './simulated_links.js';
import { DELAYS, linksOf, type DelayName, type NamedWander, type TopologyName } from './topologies.js';

export interface JudgedCase {
  readonly topology: TopologyName;
  readonly delays: DelayName;
  readonly wander: NamedWander;
  readonly seconds: number;
  readonly perMinute: number;
  readonly hosts?: number;
  /** What differs beside the fields above. */
  readonly name?: string;
  readonly change?: (simulation: Simulation) => Partial<Simulation>;
  /** Hosts that may be set aside. */
  readonly mayLeave?: number;
}

export interface Judged {
  readonly name: string;
  readonly alignments: readonly Alignment[];
  readonly hardMisses: number;
  /** Part of pairs × instants inside the 99 % bound; NaN: there is no pair. */
  readonly coverage: number;
  readonly givenUp: number;
  readonly medianNs: number;
  readonly ns99: number;
  readonly worstNs: number;
  readonly hardHalfWidth: number;
  readonly likelyHalfWidth: number;
  /** Errors of the oracle: median and 99 %. */
  readonly best: readonly [number, number];
  /** The oracle's 99 % half-width if links are as similar as declared. */
  readonly bestHalfWidth: number;
  readonly solveSeconds: number;
}

/** `first`: the seed of the first draw. */
export function judge(one: JudgedCase, draws: number, withOracle = true, first = 1): Judged {
  const checks: Check[] = [];
  const best: number[] = [];
  const bestHalfWidths: number[] = [];
  const alignments: Alignment[] = [];
  let givenUp = 0;
  let solving = 0;
  for (let seed = first; seed < first + draws; seed++) {
    const run = simulate(simulationOf(one, seed));
    const start = process.cpuUsage();
    const alignment = align(run.hosts, run.edges);
    solving += process.cpuUsage(start).user / 1e6;
    for (const check of checkAll(run, alignment)) checks.push(check);
    alignments.push(alignment);
    givenUp += run.hosts - largestGroup(alignment);
    const instants = Array.from({ length: 40 }, (_, i) => ((i + 0.5) / 40) * one.seconds * 1e9);
    if (!withOracle) continue;
    const { errors, halfWidths } = oracle(run, perNs(one.wander.ppmPerMinute), instants);
    for (const error of errors) best.push(Math.abs(error));
    for (const halfWidth of halfWidths) bestHalfWidths.push(halfWidth);
  }
  const errors = checks.map(({ error }) => Math.abs(error));
  return {
    name: nameOf(one),
    alignments,
    hardMisses: checks.filter(({ insideHard }) => !insideHard).length,
    coverage: checks.filter(({ insideLikely }) => insideLikely).length / checks.length,
    givenUp,
    medianNs: median(errors),
    ns99: quantile(errors, 0.99),
    worstNs: quantile(errors, 1),
    hardHalfWidth: median(checks.map((check) => check.hardHalfWidth)),
    likelyHalfWidth: median(checks.map((check) => check.likelyHalfWidth)),
    best: [median(best), quantile(best, 0.99)],
    bestHalfWidth: median(bestHalfWidths),
    solveSeconds: solving / draws,
  };
}

function simulationOf(one: JudgedCase, seed: number): Simulation {
  const { topology, delays, wander, seconds, perMinute, change } = one;
  const random = seeded(1000 + seed);
  const { hosts, links } = linksOf(topology, one.hosts ?? 8, () => DELAYS[delays](random));
  const simulation: Simulation = {
    seed,
    hosts,
    links,
    seconds,
    perMinute,
    sizes: SMALL_SIZES,
    wander: wander.of(seed, hosts, seconds),
  };
  return { ...simulation, ...change?.(simulation) };
}

export function largestGroup({ references }: Alignment): number {
  return Math.max(...references.map((own) => references.filter((other) => other === own).length));
}

export function nameOf({ topology, delays, wander, seconds, perMinute, hosts, name }: JudgedCase): string {
  const long = seconds < 120 ? `${seconds} s` : `${seconds / 60} min`;
  const many = hosts === undefined ? '' : ` of ${hosts}`;
  return [`${topology}${many}`, delays, wander.name, long, `${perMinute}/min`, ...(name ? [name] : [])].join(
    ', ',
  );
}
