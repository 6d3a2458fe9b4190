/** Clocks and delays are drawn at random, so the truth is known. The alignment must lie within the bounds that it states. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align, ALIGNMENT_DEFAULTS, type Alignment } from '../../src/clocks/alignment.js';
import { correctionAt, knotTime } from '../../src/clocks/corrections.js';
import { EdgeCollector, type EdgeEvidence } from '../../src/clocks/evidence.js';
import {
  checkAll,
  median,
  normal,
  ring,
  seeded,
  simulate,
  tree,
  type SimulatedLink,
  type SimulatedRun,
  type Simulation,
} from '../support/clocks/simulated_links.js';

const seeds = fc.integer({ min: 1, max: 1e9 });

function links(seed: number, hosts: number, withTree: boolean): SimulatedLink[] {
  const random = seeded(seed);
  const delay = (): number => 14_000 * Math.max(0.2, 1 + 0.2 * normal(random));
  return [...ring(hosts, delay), ...(withTree ? tree(hosts, delay) : [])];
}

function draw(seed: number, hosts: number, withTree: boolean, extra: Partial<Simulation> = {}): SimulatedRun {
  return simulate({
    seed,
    hosts,
    links: links(seed, hosts, withTree),
    seconds: 20,
    perMinute: 600,
    ...extra,
  });
}

describe('a simulated run', () => {
  it('is recovered within the hard bound always, within the 99 % bound nearly always', () => {
    let inside = 0;
    let all = 0;
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 7 }), fc.boolean(), (seed, hosts, withTree) => {
        const run = draw(seed, hosts, withTree);
        const alignment = align(hosts, run.edges);
        expect(alignment.culprits).toEqual([]);
        const checks = checkAll(run, alignment);
        expect(checks.length).toBeGreaterThan(0);
        for (const check of checks) expect(check.insideHard).toBe(true);
        expect(median(checks.map(({ error }) => Math.abs(error)))).toBeLessThan(15_000);
        all += checks.length;
        inside += checks.filter(({ insideLikely }) => insideLikely).length;
      }),
      { numRuns: 30 },
    );
    expect(inside / all).toBeGreaterThan(0.99);
  });

  it('leaves no effect before its cause', () => {
    fc.assert(
      fc.property(seeds, fc.boolean(), (seed, withTree) => {
        const run = draw(seed, 5, withTree);
        const { knots, corrections } = align(5, run.edges);
        for (const { from, to, windows } of run.edges) {
          for (const { hull } of windows) {
            for (let i = 0; i < hull.length; i += 2) {
              const sent = hull[i]! + correctionAt(knots, corrections[from]!, hull[i]!);
              const at = hull[i]! + hull[i + 1]!;
              const received = at + correctionAt(knots, corrections[to]!, at);
              expect(received).toBeGreaterThanOrEqual(sent);
            }
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  it('gives clocks that never go back', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { knots, corrections } = align(4, draw(seed, 4, true).edges);
        for (const values of corrections) {
          for (let k = 1; k < values.length; k++)
            expect(knots.step + values[k]! - values[k - 1]!).toBeGreaterThan(0);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('states the same bounds for a against b as for b against a', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const alignment = align(5, draw(seed, 5, false).edges);
        const forth = alignment.hardBetween(1, 3, 0);
        const back = alignment.hardBetween(3, 1, 0);
        expect(forth.below).toBeCloseTo(back.above, 3);
        expect(forth.above).toBeCloseTo(back.below, 3);
        expect(alignment.likely(1, 3, 0)).toBeCloseTo(alignment.likely(3, 1, 0), 3);
      }),
      { numRuns: 15 },
    );
  });

  it('does not depend on how hosts are numbered', () => {
    const moved: number[] = [];
    const wider: number[] = [];
    const order = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(seeds, order, fc.boolean(), (seed, to, withTree) => {
        const run = draw(seed, 5, withTree);
        const renamed = run.edges
          .map((edge) => ({ ...edge, from: to[edge.from]!, to: to[edge.to]! }))
          .reverse();
        const shown = (
          host: number,
          time: number,
          { knots, corrections }: Alignment,
          number: number,
        ): number => {
          const clock = run.clock(host, time);
          return clock + correctionAt(knots, corrections[number]!, clock);
        };
        const plain = align(5, run.edges);
        const other = align(5, renamed);
        for (const time of [1e9, 10e9, 19e9]) {
          const apart = shown(1, time, plain, 1) - shown(3, time, plain, 3);
          const otherApart = shown(1, time, other, to[1]!) - shown(3, time, other, to[3]!);
          moved.push(Math.abs(apart - otherApart));
        }
        wider.push(Math.abs(other.likely(to[1]!, to[3]!, 0) / plain.likely(1, 3, 0) - 1));
      }),
      { numRuns: 15 },
    );
    expect(median(moved)).toBeLessThan(2);
    expect(Math.max(...moved)).toBeLessThan(50);
    expect(Math.max(...wider)).toBeLessThan(0.01);
  });

  it('states that likeness was measured only where cycles of links show it', () => {
    expect(align(6, draw(1, 6, false).edges).alike.measured).toBeNull();
    const { measured } = align(6, draw(1, 6, true).edges).alike;
    expect(measured).toBeGreaterThan(0.05);
    expect(measured).toBeLessThan(0.5);
  });
});

describe('contradictions', () => {
  const named = (alignment: Alignment): unknown[] =>
    alignment.culprits.map((culprit) => {
      if (culprit.what === 'link') return [culprit.from, culprit.to];
      return [culprit.what, ...(culprit.what === 'clock-jump' ? [culprit.domain] : culprit.domains)];
    });

  it('are none where messages in one direction begin to wait, whatever their sizes', () => {
    const [there, back] = ring(2, () => 14_000);
    const run = simulate({
      seed: 5,
      hosts: 2,
      links: [there!, { ...back!, kind: 'credit' }],
      seconds: 20,
      perMinute: 1200,
      tamper: ({ kind }, time, delay) => (kind !== 'credit' && time > 11e9 ? delay + 60_000 : delay),
    });
    const alignment = align(2, run.edges);
    expect(alignment.culprits).toEqual([]);
    for (const check of checkAll(run, alignment)) expect(check.insideHard).toBe(true);
  });

  it('on one link alone: its pairs do not belong together', () => {
    const run = draw(6, 6, true, {
      tamper: ({ from, to }, time, delay) =>
        from === 3 && to === 4 && time > 8e9 && time < 9e9 ? delay - 2e6 : delay,
    });
    const alignment = align(6, run.edges);
    expect(named(alignment)).toEqual([[3, 4]]);
    for (const check of checkAll(run, alignment)) expect(check.insideHard).toBe(true);
  });

  it('are none where a link is 40 us slower than its like: the link is named and kept', () => {
    const slow = links(7, 8, true).map((link) =>
      link.from === 3 && link.to === 4 ? { ...link, delay: link.delay + 40_000 } : link,
    );
    const run = simulate({ seed: 7, hosts: 8, links: slow, seconds: 60, perMinute: 400 });
    const alignment = align(8, run.edges);
    expect(alignment.culprits).toEqual([]);
    expect(alignment.unlike.map(({ from, to }) => [from, to])).toContainEqual([3, 4]);
  });
});

describe('without enough evidence', () => {
  it('hosts that only sent, and hosts that only received, are kept apart', () => {
    const run = simulate({
      seed: 3,
      hosts: 5,
      links: [...ring(3, () => 10_000), { from: 2, to: 3, delay: 10_000 }],
      seconds: 5,
      perMinute: 600,
    });
    const alignment = align(5, run.edges);
    expect(alignment.references).toEqual([0, 0, 0, 3, 4]);
    expect(alignment.likely(0, 3, 0)).toBe(Infinity);
    const oneSided = alignment.hardBetween(2, 3, 0);
    expect([oneSided.below, oneSided.above].filter(Number.isFinite)).toHaveLength(1);
  });

  it('knots reach as far as the evidence, though it bounds one side only', () => {
    const links = [{ from: 0, to: 1, delay: 10_000 }];
    const { knots, references } = align(
      2,
      simulate({ seed: 3, hosts: 2, links, seconds: 60, perMinute: 600 }).edges,
    );
    expect(references).toEqual([0, 1]);
    expect(knots.first).toBeLessThan(1e9);
    expect(knotTime(knots, knots.count - 1)).toBeGreaterThan(59e9);
  });

  it('no host is aligned with another', () => {
    const none: EdgeEvidence[] = [];
    expect(align(2, none, ALIGNMENT_DEFAULTS).references).toEqual([0, 1]);
    expect(align(0, none).references).toEqual([]);
  });
});

it('a pair that is decades from the others (a tick that cannot be true) spoils no other pair', () => {
  const collect = (from: number, to: number): EdgeEvidence => {
    const edge = new EdgeCollector({ from, to, kind: 'data', like: 'x' });
    for (let second = 0; second < 20; second++) edge.add(second * 1e9, 20_000);
    edge.add(75 * 365 * 86_400e9, 20_000);
    return edge.finish();
  };
  const { knots, corrections } = align(2, [collect(0, 1), collect(1, 0)]);
  expect(knots.count).toBeLessThanOrEqual(1025);
  expect(Math.abs(correctionAt(knots, corrections[1]!, 10e9))).toBeLessThan(20_000);
});
