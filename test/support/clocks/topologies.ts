/** Named topologies, least delays and clock wanders of simulated runs. The names are those of the tables. */

import { WAITED_CREDIT } from '../../../src/clocks/evidence.js';
import { normal, ring, tree, type Random, type SimulatedLink } from './simulated_links.js';
import { ramp, fans, randomWalk, sine, warmUp, type Wander } from './wanders.js';

/** Least delay of a small message over one link, ns. */
type Delay = () => number;
type Topology = (hosts: number, delay: Delay) => SimulatedLink[];

/** With credits: a sender sees room as soon as it is there. */
const withCredits = (data: readonly SimulatedLink[], delay: Delay): SimulatedLink[] => [
  ...data,
  ...data.map(({ from, to }) => ({
    from: to,
    to: from,
    delay: 0.6 * delay(),
    kind: 'credit' as const,
    like: WAITED_CREDIT,
  })),
];
const bothWays = (data: readonly SimulatedLink[], delay: Delay): SimulatedLink[] => [
  ...data,
  ...data.map(({ from, to }) => ({ from: to, to: from, delay: delay() })),
];
/** A ring with one file missing. */
const chain = (hosts: number, delay: Delay): SimulatedLink[] =>
  ring(hosts, delay).filter(({ from, to }) => from < to);
const star = (hosts: number, delay: Delay): SimulatedLink[] =>
  Array.from({ length: hosts - 1 }, (_, i) => ({ from: 0, to: i + 1, delay: delay() }));
const all = (hosts: number, delay: Delay): SimulatedLink[] =>
  Array.from({ length: hosts * hosts }, (_, i) => ({ from: i % hosts, to: Math.floor(i / hosts) }))
    .filter(({ from, to }) => from !== to)
    .map((link) => ({ ...link, delay: delay() }));

export const TOPOLOGIES = {
  ring,
  'ring, credits': (hosts, delay) => withCredits(ring(hosts, delay), delay),
  'ring, tree': (hosts, delay) => [...ring(hosts, delay), ...tree(hosts, delay)],
  tree,
  star: (hosts, delay) => bothWays(star(hosts, delay), delay),
  'chain, credits': (hosts, delay) => withCredits(chain(hosts, delay), delay),
  pipeline: (hosts, delay) => bothWays(chain(hosts, delay), delay),
  pair: (_, delay) => ring(2, delay),
  'pair, credits': (_, delay) => withCredits(chain(2, delay), delay),
  'all to all': all,
} as const satisfies Record<string, Topology>;

export type TopologyName = keyof typeof TOPOLOGIES;

export const linksOf = (
  name: TopologyName,
  hosts: number,
  delay: Delay,
): { hosts: number; links: SimulatedLink[] } => ({
  hosts: name.startsWith('pair') ? 2 : hosts,
  links: TOPOLOGIES[name](hosts, delay),
});

/** Named by the mean delay and by how far links differ: uniformly to either side, or by one standard error. */
export const DELAYS = {
  '14 us, 15 %': (random: Random) => 14_000 * (1 + 0.15 * (2 * random() - 1)),
  '14 us, sigma 35 %': (random: Random) => 14_000 * Math.max(0.1, 1 + 0.35 * normal(random)),
  '5 us, sigma 20 %': (random: Random) => 5000 * Math.max(0.1, 1 + 0.2 * normal(random)),
} as const;

export type DelayName = keyof typeof DELAYS;

export interface NamedWander {
  readonly name: string;
  readonly ppmPerMinute: number;
  readonly of: (seed: number, hosts: number, seconds: number) => Wander;
}

export const STILL: NamedWander = { name: 'still', ppmPerMinute: 0.1, of: () => () => 0 };

export const sineOf = (ppmPerMinute: number, period: number): NamedWander => ({
  name: `sine of ${ppmPerMinute} ppm/min over ${period} s`,
  ppmPerMinute,
  of: (seed) => sine(ppmPerMinute, period, seed),
});
export const rampOf = (ppmPerMinute: number): NamedWander => ({
  name: `ramp of ${ppmPerMinute} ppm/min`,
  ppmPerMinute,
  of: () => ramp(ppmPerMinute),
});
export const warmUpOf = (ppmPerMinute: number): NamedWander => ({
  name: `warm-up of ${ppmPerMinute} ppm/min`,
  ppmPerMinute,
  of: () => warmUp(ppmPerMinute, 60),
});
export const fansOf = (ppmPerMinute: number): NamedWander => ({
  name: `fans of ${ppmPerMinute} ppm/min`,
  ppmPerMinute,
  of: (seed, hosts, seconds) => fans(ppmPerMinute, hosts, seconds, seed),
});
export const walkOf = (ppmPerMinute: number): NamedWander => ({
  name: `random walk of ${ppmPerMinute} ppm/min`,
  ppmPerMinute,
  of: (seed, hosts, seconds) => randomWalk(ppmPerMinute, hosts, seconds, seed),
});
