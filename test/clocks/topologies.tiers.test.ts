/** Whoever sends to whom: clocks whose rates change are followed as exactly as the data allow, inside their bounds, and nobody is given up. */

import { expect, it } from 'vitest';
import { judge, type JudgedCase } from '../support/clocks/judged_run.js';
import type { SimulatedLink } from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';
import { rampOf, sineOf, STILL, walkOf, type TopologyName } from '../support/clocks/topologies.js';

/** Of each case. */
const DRAWS = inTier({ first: 1, long: 3 });
const TOPOLOGIES: readonly TopologyName[] = ['ring', 'ring, credits', 'tree', 'star', 'pipeline', 'pair'];
const EVERY = [STILL, sineOf(3, 60), sineOf(3, 180), rampOf(3), walkOf(3)];
const WANDERS = inTier({ first: [sineOf(3, 180)], long: EVERY });

const CASES = TOPOLOGIES.flatMap((topology) =>
  WANDERS.map((wander): JudgedCase => ({
    topology,
    delays: '5 us, sigma 20 %',
    wander,
    seconds: 60,
    perMinute: 400,
  })),
);

it.each(CASES.map((one) => [`${one.topology}: ${one.wander.name}`, one] as const))('%s', (_, one) => {
  const { hardMisses, coverage, givenUp, medianNs, ns99, best } = judge(one, DRAWS);
  expect(hardMisses).toBe(0);
  expect(givenUp).toBe(0);
  expect(coverage).toBeGreaterThanOrEqual(0.99);
  expect(medianNs / best[0]).toBeLessThan(1.5);
  expect(ns99 / best[1]).toBeLessThan(1.5);
});

it.each([
  ['ring', 5 * DRAWS + 1],
  ['star', 5 * DRAWS + 1],
  ['pair', 33 * DRAWS + 1],
  ['pair, credits', 33 * DRAWS + 1],
] as const)(
  '%s: the 99 %% bound is no wider than anybody could make it, or than four times the error',
  (topology, draws) => {
    const one = { topology, delays: '14 us, 15 %', wander: STILL, seconds: 60, perMinute: 400 } as const;
    const { likelyHalfWidth, ns99, bestHalfWidth, coverage } = judge(one, draws);
    expect(coverage).toBeGreaterThanOrEqual(0.99);
    expect(likelyHalfWidth).toBeLessThan(Math.max(4 * ns99, 1.2 * bestHalfWidth));
  },
);

it('a swing of three minutes is followed for many minutes', () => {
  const { medianNs, ns99, best, hardMisses } = judge(
    {
      topology: 'ring, credits',
      delays: '14 us, 15 %',
      wander: sineOf(3, 180),
      seconds: inTier({ first: 240, long: 600 }),
      perMinute: 400,
    },
    1,
  );
  expect(hardMisses).toBe(0);
  expect(medianNs / best[0]).toBeLessThan(1.5);
  expect(ns99 / best[1]).toBeLessThan(1.5);
});

it.each(['star', 'tree', 'ring, credits'] as const)(
  '%s: a direction that is longer by what the other one is shorter is inside the likely bound',
  (topology) => {
    const { coverage, hardMisses } = judge(
      {
        topology,
        delays: '14 us, 15 %',
        wander: STILL,
        seconds: 60,
        perMinute: 400,
        change: ({ links }) => ({ links: links.map(opposite) }),
      },
      2 * DRAWS,
      false,
    );
    expect(hardMisses).toBe(0);
    expect(coverage).toBeGreaterThanOrEqual(0.99);
  },
);

/** Of the two directions between two hosts one is up to a tenth longer than the mean of all, and the other one as much shorter. */
function opposite(link: SimulatedLink): SimulatedLink {
  const mean = link.kind === 'credit' ? 8400 : 14_000;
  const part = (((link.from + link.to) % 5) - 2) / 20;
  return { ...link, delay: mean * (1 + (link.from < link.to ? part : -part)) };
}
