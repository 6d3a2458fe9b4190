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
  readonly draws: number;
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

/** Some errors last for a whole run and differ only from draw to draw, so the 99 % column needs many draws. */
export function tableCases(draws: number): TableCase[] {
  return casesOf(draws).map((one) =>
    one.topology.startsWith('pair') ? { ...one, draws: PAIRS_PER_DRAW * one.draws } : one,
  );
}

/** Two hosts are one pair, eight hosts are 28. Two hosts also take less time. */
const PAIRS_PER_DRAW = 10;

function casesOf(draws: number): TableCase[] {
  const few = Math.max(1, Math.round(draws / 4));
  const fewest = Math.max(1, Math.round(draws / 10));
  return [
    ...[STILL, sineOf(3, 180)].flatMap((wander) =>
      NAMES.map((topology): TableCase => ({ ...MINUTE, topology, wander, draws })),
    ),
    ...NAMES.map((topology): TableCase => ({
      ...MINUTE,
      topology,
      delays: '14 us, sigma 35 %',
      wander: STILL,
      draws,
    })),
    ...[sineOf(0.4, 600), sineOf(1, 600), sineOf(3, 180), rampOf(3), warmUpOf(3), walkOf(3)].map(
      (wander): TableCase => ({
        ...MINUTE,
        topology: 'ring, credits',
        wander,
        seconds: 600,
        draws: few,
      }),
    ),
    ...[STILL, sineOf(1, 180), sineOf(3, 180)].map((wander): TableCase => ({
      ...MINUTE,
      topology: 'ring, credits',
      wander,
      seconds: 3600,
      draws: fewest,
    })),
    ...(['ring, credits', 'tree', 'pair'] as const).flatMap((topology) =>
      [STILL, sineOf(1, 180)].map((wander): TableCase => ({
        ...MINUTE,
        topology,
        wander,
        seconds: 300,
        draws: few,
        name: 'no messages for 100 s',
        change: () => ({ tamper: (_, time, delay) => (time > 100e9 && time < 200e9 ? null : delay) }),
      })),
    ),
    ...(['pipeline', 'pair', 'all to all'] as const).map((topology): TableCase => ({
      ...MINUTE,
      topology,
      wander: STILL,
      draws,
      name: '70 KB one way, 520 KB the other',
      change: ({ links }) => ({ links: links.map((link) => sized(link, 70_000, 520_000)) }),
    })),
    ...(['pipeline', 'pair'] as const).map((topology): TableCase => ({
      ...MINUTE,
      topology,
      wander: STILL,
      draws,
      name: '600 KB one way, 1 MB the other',
      change: ({ links }) => ({ links: links.map((link) => sized(link, 600_000, 1_000_000)) }),
    })),
    {
      ...MINUTE,
      topology: 'all to all',
      wander: STILL,
      draws,
      name: 'each link of another size, 20 to 900 KB',
      change: ({ links }) => ({ links: links.map((link, i) => ({ ...link, sizes: [sizeOf(i)] })) }),
    },
    {
      ...MINUTE,
      topology: 'ring, beacons',
      wander: STILL,
      draws,
      name: 'no file of the host that answers beacons',
      change: ({ links }) => ({
        links: links.filter(({ kind, from, to }) => kind === 'beacon' || (from !== 0 && to !== 0)),
      }),
    },
    ...NAMES.map((topology): TableCase => ({ ...MINUTE, topology, wander: JUMP, draws: few, oracle: false })),
  ];
}

const sized = (link: SimulatedLink, up: number, down: number): SimulatedLink => ({
  ...link,
  sizes: [link.from < link.to ? up : down],
});

/** Spread evenly. */
const sizeOf = (link: number): number => 20_000 + (((link + 1) * 377_000) % 880_000);

/** Calls `print` with each line of the table as soon as it is known. `only`: the rows whose name matches; `seed`: that of the first draw. */
export function runTable(draws: number, print: (line: string) => void, only = /./, seed = 1): void {
  print(
    '| case | median, 99 %, worst error | least squares: median, 99 %, half-width | hard: misses, half-width | 99 %: inside, half-width, half-width / 99 % error | given up, left out |',
  );
  print('|---|---|---|---|---|---|');
  for (const one of tableCases(draws))
    if (only.test(nameOf(one))) print(rowOf(judge(one, one.draws, one.oracle !== false, seed)));
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
