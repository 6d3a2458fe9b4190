/** Few transfers, between which a clock did what no clock may: found though each pair by itself is possible. */

import { describe, expect, it } from 'vitest';
import { align, ALIGNMENT_DEFAULTS, perNs } from '../../src/clocks/alignment.js';
import type { Culprit } from '../../src/clocks/contradictions.js';
import { findUnsteady } from '../../src/clocks/unsteady.js';
import { checkAll, ring, seeded, simulate, type SimulatedLink } from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

const both = (a: number, b: number): SimulatedLink[] => [
  { from: a, to: b, delay: 12_000 },
  { from: b, to: a, delay: 12_000 },
];

/** Host 2 jumps in mid-run by so much; five transfers per link in ten minutes. */
const jumping = (seed: number, hosts: number, links: SimulatedLink[], jump: number) =>
  simulate({
    seed,
    hosts,
    links,
    seconds: 600,
    perMinute: 0.5,
    wander: (host, time) => (host === 2 && time > 300e9 ? jump : 0),
  });

describe('a clock that jumps between two of few transfers', () => {
  const tree = [...both(0, 1), ...both(0, 2), ...both(2, 3), ...both(2, 4), ...both(1, 5), ...both(1, 6)];

  it.each([1e6, -1e6, 10e6, 50e6])(
    'by %d ns is named where clocks are said to be steady, and no bound is wrong',
    (jump) => {
      for (const seed of inTier({ first: [1], long: [1, 2, 3] })) {
        const run = jumping(seed, 7, tree, jump);
        const alignment = align(7, run.edges, { ...ALIGNMENT_DEFAULTS, wanderPpmPerMinute: 0.1 });
        const names2 = (culprit: Culprit): boolean => {
          if (culprit.what === 'link') return culprit.from === 2 || culprit.to === 2;
          return culprit.what === 'clock-jump' ? culprit.domain === 2 : culprit.domains.includes(2);
        };
        expect(alignment.culprits.some(names2)).toBe(true);
        for (const { insideHard } of checkAll(run, alignment)) expect(insideHard).toBe(true);
      }
    },
  );

  it('in a ring may belong to any host: none is believed', () => {
    const run = jumping(
      2,
      6,
      ring(6, () => 12_000),
      10e6,
    );
    const alignment = align(6, run.edges);
    expect(alignment.culprits).toMatchObject([{ what: 'clock-unsteady', domains: [0, 1, 2, 3, 4, 5] }]);
    expect(alignment.references).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('is not said of steady clocks, however few their transfers', () => {
    for (let seed = 1; seed <= inTier({ first: 6, long: 30 }); seed++) {
      const run = jumping(seed, 7, tree, 0);
      expect(align(7, run.edges).culprits).toEqual([]);
    }
  });
});

describe('a clock with a changing rate', () => {
  const mesh = [0, 1, 2, 3].flatMap((a) => [0, 1, 2, 3].flatMap((b) => (b > a ? both(a, b) : [])));
  /** The rate of host 2 rises by so many ppm a minute. */
  const bending = (ppmPerMinute: number) =>
    simulate({
      seed: 5,
      hosts: 4,
      links: mesh,
      seconds: 300,
      perMinute: 300,
      wander: (host, time) => (host === 2 ? perNs(ppmPerMinute) * 0.5 * time ** 2 : 0),
    });

  it.each([0.1, 0.6, 1.5, 3])('by %d ppm a minute is followed, reported, and its bounds hold', (ppm) => {
    const run = bending(ppm);
    const alignment = align(4, run.edges);
    expect(alignment.culprits).toEqual([]);
    expect(alignment.references).toEqual([0, 0, 0, 0]);
    expect(alignment.wander[2]! / perNs(1)).toBeGreaterThan(0.8 * ppm);
    expect(alignment.wander[2]! / perNs(1)).toBeLessThan(1.2 * ppm + 0.1);
    for (const steady of [0, 1, 3]) expect(alignment.wander[steady]! / perNs(1)).toBeLessThan(0.2);
    const checks = checkAll(run, alignment);
    for (const { insideHard, error } of checks) {
      expect(insideHard).toBe(true);
      expect(Math.abs(error)).toBeLessThan(1000);
    }
  });

  it('by more than declared is named and set aside alone, and the others stay aligned', () => {
    const run = bending(30);
    const alignment = align(4, run.edges);
    expect(alignment.culprits).toMatchObject([{ what: 'clock-unsteady', domains: [2] }]);
    expect(alignment.references).toEqual([0, 0, 2, 0]);
    for (const { insideHard, error } of checkAll(run, alignment)) {
      expect(insideHard).toBe(true);
      expect(Math.abs(error)).toBeLessThan(1000);
    }
  });

  it('uses only what a person says about clocks', () => {
    const strict = align(4, bending(1.5).edges, { ...ALIGNMENT_DEFAULTS, wanderPpmPerMinute: 0.1 });
    expect(strict.culprits).toMatchObject([{ what: 'clock-unsteady', domains: [2] }]);
    const lenient = align(4, bending(30).edges, { ...ALIGNMENT_DEFAULTS, wanderPpmPerMinute: 30 });
    expect(lenient.culprits).toEqual([]);
  });
});

describe('the named host', () => {
  /** Each pair of arcs both ways; `short`: how far they fall short round that pair. */
  const found = (pairs: readonly (readonly [number, number, number])[]) => {
    const arcs = pairs.flatMap(([a, b]) => [
      { from: a, to: b },
      { from: b, to: a },
    ]);
    const lengths = Float64Array.from(pairs.flatMap(([, , short]) => [5000, -5000 - short]));
    return findUnsteady(5, arcs, [new Float64Array(arcs.length).fill(5000), lengths])?.domains;
  };

  it('is nobody if there is room, also with stamps of programs', () => {
    expect(
      found([
        [0, 1, -1],
        [1, 2, 150],
      ]),
    ).toBeUndefined();
  });

  it('is whom the others agree without', () => {
    expect(
      found([
        [0, 1, 9000],
        [1, 2, 9000],
        [0, 3, 0],
        [2, 4, 0],
      ]),
    ).toEqual([1]);
  });

  it('of two is the one with hardly any other peers, or both', () => {
    expect(
      found([
        [0, 1, 9000],
        [1, 2, 0],
        [1, 3, 0],
      ]),
    ).toEqual([0]);
    expect(
      found([
        [0, 1, 9000],
        [1, 2, 0],
      ]),
    ).toEqual([0, 1]);
    const random = seeded(3);
    expect(found([[0, 1, 200 + 1e6 * random()]])).toEqual([0, 1]);
  });
});
