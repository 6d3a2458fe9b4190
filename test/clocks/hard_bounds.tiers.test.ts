/** Hard bounds hold at every instant, whatever the estimate, and never depend on evidence that may be wrong. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align, ALIGNMENT_DEFAULTS, type Alignment } from '../../src/clocks/alignment.js';
import { HardBounds, type Interval } from '../../src/clocks/bounds.js';
import { correctionAt, knotTime, pieceAt, placeKnots, type Knots } from '../../src/clocks/corrections.js';
import { PieceHulls } from '../../src/clocks/edge_hulls.js';
import { EARLY_ARRIVAL, type EdgeEvidence } from '../../src/clocks/evidence.js';
import { project } from '../../src/clocks/projection.js';
import {
  ring,
  seeded,
  simulate,
  tree,
  type Random,
  type SimulatedLink,
  type SimulatedRun,
} from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

/** 0.1 ppm a minute, 1/ns. */
const CURVATURE = 1e-7 / 60e9;

/** Clocks that bend as much as is declared, one way and then the other. */
function bending(random: Random, hosts: number, seconds: number) {
  const clocks = Array.from({ length: hosts }, () => ({
    bend: (2 * random() - 1) * CURVATURE,
    turn: random() * seconds * 1e9,
    offset: (random() - 0.5) * 4e9,
  }));
  return (host: number, time: number): number => {
    const { bend, turn, offset } = clocks[host]!;
    if (time < turn) return offset + (bend * time * time) / 2;
    const since = time - turn;
    return offset + (bend * turn * turn) / 2 + bend * turn * since - (bend * since * since) / 2;
  };
}

/** Links that speak now and then only, of delays that are small, or not. */
function sparseRun(random: Random, hosts: number, seconds: number): SimulatedRun {
  const delay = (): number => (random() < 0.5 ? 300 : 14_000 * (0.3 + random()));
  const links = [...ring(hosts, delay), ...(random() < 0.4 ? tree(hosts, delay) : [])];
  const bursts = new Map<SimulatedLink, number[]>();
  for (const link of links)
    bursts.set(
      link,
      Array.from({ length: 2 + Math.floor(4 * random()) }, () => random() * seconds * 1e9),
    );
  const isSparse = random() < 0.6;
  return simulate({
    seed: Math.floor(1e9 * random()),
    hosts,
    links,
    seconds,
    perMinute: 300 + Math.floor(2000 * random()),
    sizes: [64],
    wander: bending(random, hosts, seconds),
    tamper: (link, time, value) =>
      !isSparse || bursts.get(link)!.some((burst) => Math.abs(time - burst) < 2e9) ? value : null,
  });
}

/** The true corrections at the knots, each moved at random by up to `size`. */
function wrongCorrections(run: SimulatedRun, knots: Knots, random: Random, size: number): Float64Array[] {
  return Array.from({ length: run.hosts }, (_, host) =>
    Float64Array.from({ length: knots.count }, (__, knot) => {
      if (host === 0) return 0;
      const shown = knotTime(knots, knot);
      let time = shown;
      for (let i = 0; i < 6; i++) time += shown - run.clock(host, time);
      return run.clock(0, time) - shown + (random() - 0.5) * size;
    }),
  );
}

interface Estimated {
  readonly knots: Knots;
  readonly spans: Knots;
  readonly corrections: readonly Float64Array[];
}

/** By how much truth lies outside the bound, ns; of `a` against `b` at a true time. */
function outside(
  run: SimulatedRun,
  { knots, spans, corrections }: Estimated,
  a: number,
  b: number,
  time: number,
  bound: (span: number) => Interval,
): number {
  const aligned = (host: number): number => {
    const shown = run.clock(host, time);
    return shown + correctionAt(knots, corrections[host]!, shown);
  };
  const error = aligned(b) - aligned(a);
  const { below, above } = bound(pieceAt(spans, run.clock(a, time)));
  return Math.max(error - above, -below - error);
}

describe('truth lies inside the hard bound', () => {
  it('whatever was estimated, in the middle of pieces, at knots, and in pauses without messages', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
        const random = seeded(seed);
        const hosts = 2 + Math.floor(4 * random());
        const seconds = 20 + Math.floor(200 * random());
        const run = sparseRun(random, hosts, seconds);
        const knots = placeKnots(-3e9, (seconds + 3) * 1e9, 62.5e6);
        const corrections = wrongCorrections(run, knots, random, 10 ** (2 + 4 * random()));
        const references = new Array<number>(hosts).fill(0);
        const hulls = new PieceHulls(knots, CURVATURE).of(run.edges);
        fc.pre(project({ knots, corrections, hulls }, references) === 0);
        const bounds = new HardBounds(references, hulls, knots, corrections, CURVATURE);
        const { spans } = bounds;
        const estimated = { knots, spans, corrections };
        for (let i = 0; i < 60; i++) {
          const time = i < 20 ? knotTime(spans, i % spans.count) : random() * seconds * 1e9;
          const a = Math.floor(hosts * random());
          const b = Math.floor(hosts * random());
          // Before the first span and after the last one, the bound of a span does not hold.
          if (run.clock(a, time) < spans.first || run.clock(a, time) > knotTime(spans, spans.count - 1))
            continue;
          const by = outside(run, estimated, a, b, time, (span) => bounds.between(a, b, span));
          expect(by).toBeLessThan(0.01);
        }
      }),
      { numRuns: inTier({ first: 8, long: 400 }) },
    );
  });
});

/** The same pairs by another stamp of their arrival. */
const restamped = (edge: EdgeEvidence, like: string, later: number): EdgeEvidence => ({
  ...edge,
  like,
  windows: edge.windows.map((window) => ({
    ...window,
    hull: window.hull.map((value, i) => (i % 2 === 1 ? value + later : value)),
  })),
});

const isInside = (run: SimulatedRun, alignment: Alignment): boolean => {
  for (let time = 1e9; time < run.seconds * 1e9; time += 1.7e9) {
    for (let a = 0; a < run.hosts; a++) {
      for (let b = 0; b < run.hosts; b++) {
        const by = outside(run, alignment, a, b, time, (span) => alignment.hardBetween(a, b, span));
        if (by > 0.01) return false;
      }
    }
  }
  return true;
};

describe('evidence that is only believed', () => {
  const HOSTS = 4;
  const run = simulate({
    seed: 11,
    hosts: HOSTS,
    links: ring(HOSTS, () => 14_000),
    seconds: 20,
    perMinute: 2000,
    sizes: [64],
  });

  it('gives no bound if low-latency receives are reported too early by an amount that contradicts nothing', () => {
    // The first link's by nearly the slack of the ring: with only those to go by truth is outside.
    const early = run.edges.map((edge) =>
      restamped(edge, `${EARLY_ARRIVAL} up to 8 KiB`, edge.from === 0 ? -50_000 : 0),
    );
    const consumed = run.edges.map((edge) => restamped(edge, 'data until consumed, up to 8 KiB', 1000));
    const believed = align(HOSTS, early, ALIGNMENT_DEFAULTS, early);
    expect(believed.culprits).toEqual([]);
    expect(isInside(run, believed)).toBe(false);
    const alignment = align(HOSTS, early, ALIGNMENT_DEFAULTS, consumed);
    expect(alignment.culprits).toEqual([]);
    expect(isInside(run, alignment)).toBe(true);
    expect(alignment.sure).toEqual([true, true, true, true]);
  });

  it('gives no bound if the network takes sends before there is room; if there is no other evidence, it does, and says so', () => {
    const credits = run.edges.map((edge) => ({
      ...restamped(edge, 'credit', edge.from === 0 ? -50_000 : 0),
      kind: 'credit' as const,
    }));
    const data = run.edges.filter(({ from }) => from !== HOSTS - 1);
    const ringOfAll = align(HOSTS, [...run.edges, ...credits]);
    expect(isInside(run, ringOfAll)).toBe(true);
    expect(ringOfAll.sure).toEqual([true, true, true, true]);
    const chain = align(HOSTS, [...data, ...credits]);
    expect(chain.sure).toEqual([true, false, false, false]);
    const { below, above } = chain.hard[0]![2]!;
    expect(Math.max(below, above)).toBeLessThan(Infinity);
  });
});

it('evidence that contradicts itself everywhere is left out in the end', () => {
  const hosts = 8;
  const random = seeded(3);
  const links = [...ring(hosts, () => 10_000), ...tree(hosts, () => 10_000)];
  const run = simulate({
    seed: 3,
    hosts,
    links,
    seconds: 1,
    perMinute: 1200,
    sizes: [64],
    tamper: (_, __, delay) => delay - 3e6 * random(),
  });
  const alignment = align(hosts, run.edges);
  expect(alignment.culprits.length).toBeGreaterThan(8);
  expect(alignment.culprits.length).toBeLessThanOrEqual(links.length);
});
