/** Where messages are few the 99 % bound still holds, also at the ends of pieces. Where they are many the bound is narrow. */

import { expect, it } from 'vitest';
import { align } from '../../src/clocks/alignment.js';
import {
  checkAll,
  normal,
  ring,
  seeded,
  SHARES,
  simulate,
  tree,
  type PieceCheck,
  type SimulatedLink,
} from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

type Shape = (hosts: number, delay: () => number) => SimulatedLink[];

const mesh: Shape = (hosts, delay) =>
  Array.from({ length: hosts }, (_, from) => from).flatMap((from) =>
    Array.from({ length: hosts }, (_, to) => to).flatMap((to) =>
      from === to ? [] : [{ from, to, delay: delay() }],
    ),
  );

/** Ten to twenty messages per link and piece. */
const CASES: readonly (readonly [string, Shape, number, number, number])[] = [
  ['mesh of 8, 3 s', mesh, 8, 3, 300],
  ['mesh of 6, 10 s', mesh, 6, 10, 120],
  ['mesh of 6, 2 s', mesh, 6, 2, 300],
  ['tree of 8, 60 s', tree, 8, 60, 20],
  ['ring of 8, 60 s', ring, 8, 60, 20],
  ['mesh of 6, 3 min', mesh, 6, 180, 20],
];
const DRAWS = inTier({ first: 4, long: 60 });

it.each(CASES)('%s', (_, shape, hosts, seconds, perMinute) => {
  const checks: PieceCheck[] = [];
  for (let seed = 1; seed <= DRAWS; seed++) {
    const random = seeded(7 * seed + 1);
    const links = shape(hosts, () => 14_000 * (1 + 0.05 * normal(random)));
    const run = simulate({ seed, hosts, links, seconds, perMinute });
    const alignment = align(hosts, run.edges);
    expect(alignment.culprits).toEqual([]);
    for (const check of checkAll(run, alignment)) checks.push(check);
  }
  expect(coverage(checks)).toBeGreaterThan(0.99);
  for (const share of SHARES) {
    const there = checks.filter((check) => check.share === share);
    expect(coverage(there), `at ${share} of the piece`).toBeGreaterThan(0.98);
  }
});

/** NaN without checks, which fails every comparison. */
const coverage = (checks: readonly PieceCheck[]): number =>
  checks.filter(({ insideLikely }) => insideLikely).length / checks.length;

/** Host 5 of a tree in which all others are busy: what it sends and hears, and when. */
const QUIET: readonly (readonly [string, number, number, number])[] = [
  ['heard once a minute', 1, 0, 240],
  ['heard for the first 3 s only', 300, 0, 3],
  ['heard for 10 s only', 60, 100, 110],
];

it.each(QUIET)('a host that is %s among busy ones', (_, perMinute, from, to) => {
  const checks: PieceCheck[] = [];
  for (let seed = 1; seed <= DRAWS; seed++) {
    const random = seeded(7 * seed + 1);
    const links = tree(6, () => 14_000 * (1 + 0.15 * normal(random)));
    const run = simulate({
      seed,
      hosts: 6,
      links: links.map((link) => (link.from === 5 || link.to === 5 ? { ...link, perMinute } : link)),
      seconds: 240,
      perMinute: 400,
      tamper: (link, time, delay) =>
        (link.from === 5 || link.to === 5) && (time < from * 1e9 || time > to * 1e9) ? null : delay,
    });
    const alignment = align(6, run.edges);
    expect(alignment.culprits).toEqual([]);
    for (const check of checkAll(run, alignment, (a, b) => a === 5 || b === 5)) checks.push(check);
  }
  expect(coverage(checks)).toBeGreaterThan(0.98);
});

it('a bound is wide for lack of messages, not for their number', () => {
  const widths = [20, 80, 400].map((perMinute) => {
    const random = seeded(3);
    const links = mesh(6, () => 14_000 * (1 + 0.05 * normal(random)));
    const run = simulate({ seed: 3, hosts: 6, links, seconds: 60, perMinute });
    return align(6, run.edges).likely(1, 4, 0);
  });
  expect(widths[2]).toBeLessThan(3000);
  expect(widths[1]).toBeGreaterThan(widths[2]!);
  expect(widths[0]).toBeGreaterThan(1.5 * widths[2]!);
});

it('honest pairs contradict nothing, however few', () => {
  for (let seed = 1; seed <= 10 * DRAWS; seed++) {
    const links = seed % 2 === 0 ? tree(8, () => 14_000) : ring(8, () => 14_000);
    const run = simulate({ seed, hosts: 8, links, seconds: 1, perMinute: 600 });
    expect(align(8, run.edges).culprits, String(seed)).toEqual([]);
  }
});
