/** The cases of `npm run bench:clocks -- --table`: topologies, clocks that wander or jump, pauses, sizes that differ. */

import { judge, nameOf, type Judged, type JudgedCase } from './judged_run.js';
import type { SimulatedLink } from './simulated_links.js';
import {
  rampOf,
  sineOf,
  STILL,
  TOPOLOGIES,
  walkOf,
  warmUpOf,
  type NamedWander,
  type TopologyName,
} from './topologies.js';

interface TableCase extends JudgedCase {
  /** false: least squares cannot estimate clocks that jump. */
  readonly oracle?: false;
}

const NAMES = Object.keys(TOPOLOGIES) as TopologyName[];
const MINUTE = { delays: '14 us, 15 %', seconds: 60, perMinute: 400 } as const;

const JUMP: NamedWander = {
  name: 'a host jumps by 500 us',
  ppmPerMinute: 0.1,
  of: () => (host, time) => (host === 1 && time > 31e9 ? 500e3 : 0),
};

const sized = (link: SimulatedLink, up: number, down: number): SimulatedLink => ({
  ...link,
  sizes: [link.from < link.to ? up : down],
});

/** Spread evenly. */
const sizeOf = (link: number): number => 20_000 + (((link + 1) * 377_000) % 880_000);

export const TABLE_CASES: readonly TableCase[] = [
  ...[STILL, sineOf(3, 180)].flatMap((wander) =>
    NAMES.map((topology): TableCase => ({ ...MINUTE, topology, wander })),
  ),
  ...NAMES.map((topology): TableCase => ({
    ...MINUTE,
    topology,
    delays: '14 us, sigma 35 %',
    wander: STILL,
  })),
  ...[sineOf(0.4, 600), sineOf(1, 600), sineOf(3, 180), rampOf(3), warmUpOf(3), walkOf(3)].map(
    (wander): TableCase => ({
      ...MINUTE,
      topology: 'ring, credits',
      wander,
      seconds: 600,
    }),
  ),
  ...[STILL, sineOf(1, 180), sineOf(3, 180)].map((wander): TableCase => ({
    ...MINUTE,
    topology: 'ring, credits',
    wander,
    seconds: 3600,
  })),
  ...(['ring, credits', 'tree', 'pair'] as const).flatMap((topology) =>
    [STILL, sineOf(1, 180)].map((wander): TableCase => ({
      ...MINUTE,
      topology,
      wander,
      seconds: 300,
      name: 'no messages for 100 s',
      change: () => ({ tamper: (_, time, delay) => (time > 100e9 && time < 200e9 ? null : delay) }),
    })),
  ),
  ...(['ring, credits', 'tree', 'pair'] as const).map((topology): TableCase => ({
    ...MINUTE,
    topology,
    wander: sineOf(1, 180),
    seconds: 600,
    perMinute: 13,
  })),
  ...(['pipeline', 'pair', 'all to all'] as const).map((topology): TableCase => ({
    ...MINUTE,
    topology,
    wander: STILL,
    name: '70 KB one way, 520 KB the other',
    change: ({ links }) => ({ links: links.map((link) => sized(link, 70_000, 520_000)) }),
  })),
  ...(['pipeline', 'pair'] as const).map((topology): TableCase => ({
    ...MINUTE,
    topology,
    wander: STILL,
    name: '600 KB one way, 1 MB the other',
    change: ({ links }) => ({ links: links.map((link) => sized(link, 600_000, 1_000_000)) }),
  })),
  {
    ...MINUTE,
    topology: 'all to all',
    wander: STILL,
    name: 'each link of another size, 20 to 900 KB',
    change: ({ links }) => ({ links: links.map((link, i) => ({ ...link, sizes: [sizeOf(i)] })) }),
  },
  ...NAMES.map((topology): TableCase => ({ ...MINUTE, topology, wander: JUMP, oracle: false })),
];

/** Clocks whose rates change, in ways that a machine room has. */
export const wanderCases = (minutes: number): TableCase[] =>
  [0.1, 0.4, 1, 3].flatMap((ppm) =>
    [sineOf(ppm, 600), sineOf(ppm, 180), rampOf(ppm), warmUpOf(ppm), walkOf(ppm)].map(
      (wander): TableCase => ({ ...MINUTE, topology: 'ring, credits', wander, seconds: 60 * minutes }),
    ),
  );

export interface Drawn {
  /** With eight hosts. Errors of links last for a whole run, however long it is, so all rows have the same number of draws. */
  readonly draws: number;
  /** The rows whose name matches. */
  readonly only: RegExp;
  /** Of the first draw. */
  readonly seed: number;
}

/** Two hosts are one pair, eight hosts are 28. Two hosts also take less time. */
const PAIRS_PER_DRAW = 10;

/** Calls `print` with each line of the table as soon as it is known. */
export function runTable(
  cases: readonly TableCase[],
  { draws, only, seed }: Drawn,
  print: (line: string) => void,
): void {
  print(
    '| case | median, 99 %, worst error | least squares: median, 99 %, half-width | hard: misses, half-width | 99 %: inside, half-width, half-width / 99 % error | given up, left out |',
  );
  print('|---|---|---|---|---|---|');
  for (const one of cases) {
    if (!only.test(nameOf(one))) continue;
    const own = one.topology.startsWith('pair') ? PAIRS_PER_DRAW * draws : draws;
    print(rowOf(judge(one, own, one.oracle !== false, seed)));
  }
}

const us = (ns: number): string => (Number.isNaN(ns) ? '' : (ns / 1e3).toFixed(ns < 10_000 ? 2 : 1));

function rowOf(one: Judged): string {
  const { name, alignments, hardMisses, coverage, givenUp, medianNs, ns99, worstNs, best } = one;
  const leftOut = alignments.reduce((sum, { culprits }) => sum + culprits.length, 0);
  const solved = !Number.isNaN(medianNs);
  return `| ${[
    `${name} (${alignments.length})`,
    solved ? `${us(medianNs)}, ${us(ns99)}, ${us(worstNs)} µs` : 'no two hosts are aligned',
    Number.isNaN(best[0]) ? '' : `${us(best[0])}, ${us(best[1])}, ${us(one.bestHalfWidth)}`,
    solved ? `${hardMisses}, ${us(one.hardHalfWidth)}` : '',
    solved
      ? `${(100 * coverage).toFixed(2)} %, ${us(one.likelyHalfWidth)}, ${(one.likelyHalfWidth / ns99).toFixed(1)}`
      : '',
    `${givenUp}, ${leftOut}`,
  ].join(' | ')} |`;
}
