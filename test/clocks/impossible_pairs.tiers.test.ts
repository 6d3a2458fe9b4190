/** Contradictions among pairs are found at once, and never where there are none, whatever the estimate. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knotTime, placeKnots, type Knots } from '../../src/clocks/corrections.js';
import { PieceHulls } from '../../src/clocks/edge_hulls.js';
import { isImpossibleAt } from '../../src/clocks/impossible_pairs.js';
import { project } from '../../src/clocks/projection.js';
import {
  ring,
  seeded,
  simulate,
  tree,
  type Random,
  type SimulatedRun,
} from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

const HOSTS = 6;
const SECONDS = 70;
const KNOTS = placeKnots(0, SECONDS * 1e9, 62.5e6);

function run(random: Random, early: number): SimulatedRun {
  const delay = (): number => (random() < 0.5 ? 300 : 14_000 * (0.3 + random()));
  return simulate({
    seed: Math.floor(1e9 * random()),
    hosts: HOSTS,
    links: [...ring(HOSTS, delay), ...(random() < 0.5 ? tree(HOSTS, delay) : [])],
    seconds: SECONDS,
    perMinute: 300,
    sizes: [64],
    tamper: ({ from, to }, time, value) =>
      from === 2 && to === 3 && time > 30e9 && time < 32e9 ? value - early : value,
  });
}

/** The true corrections at the knots, each moved at random by up to `size`. */
function nearly({ clock }: SimulatedRun, knots: Knots, random: Random, size: number): Float64Array[] {
  return Array.from({ length: HOSTS }, (_, host) =>
    Float64Array.from({ length: knots.count }, (__, knot) => {
      const shown = knotTime(knots, knot);
      let time = shown;
      for (let i = 0; i < 6; i++) time += shown - clock(host, time);
      return clock(0, time) - shown + (random() - 0.5) * size;
    }),
  );
}

describe('pairs that cannot all be true', () => {
  it('are never found among those of true clocks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
        const random = seeded(seed);
        const honest = run(random, 0);
        const hulls = new PieceHulls(KNOTS, 0).of(honest.edges);
        const corrections = nearly(honest, KNOTS, random, 10 ** (2 + 4 * random()));
        for (let i = 0; i < 30; i++)
          expect(isImpossibleAt(KNOTS, corrections, hulls, random() * SECONDS * 1e9)).toBe(false);
      }),
      { numRuns: inTier({ first: 5, long: 500 }) },
    );
  });

  it('are found around their cycle, only at their time, and no projection removes them', () => {
    const random = seeded(5);
    const tampered = run(random, 3e6);
    const hulls = new PieceHulls(KNOTS, 0).of(tampered.edges);
    const corrections = nearly(tampered, KNOTS, random, 1000);
    expect(isImpossibleAt(KNOTS, corrections, hulls, tampered.clock(0, 31e9))).toBe(true);
    expect(isImpossibleAt(KNOTS, corrections, hulls, tampered.clock(0, 65e9))).toBe(false);
    expect(project({ knots: KNOTS, corrections, hulls }, new Array<number>(HOSTS).fill(0))).toBeGreaterThan(
      1000,
    );
  });
});
