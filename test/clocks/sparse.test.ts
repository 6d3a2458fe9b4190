/** Where messages are few the 99 % bound still holds, also at the ends of pieces. Where they are many the bound is narrow. */

import { expect, it } from 'vitest';
import { align } from '../../src/clocks/alignment.js';
import { knotTime } from '../../src/clocks/corrections.js';
import {
  checkAll,
  normal,
  ring,
  seeded,
  simulate,
  tree,
  type SimulatedLink,
} from '../support/simulated_links.js';

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
const SHARES = [0.02, 0.25, 0.5, 0.75, 0.98];
const DRAWS = process.env.NCCL_TRACE_LONG ? 60 : 15;

it.each(CASES)('%s', (_, shape, hosts, seconds, perMinute) => {
  const inside = SHARES.map(() => 0);
  const all = SHARES.map(() => 0);
  for (let seed = 1; seed <= DRAWS; seed++) {
    const random = seeded(7 * seed + 1);
    const links = shape(hosts, () => 14_000 * (1 + 0.05 * normal(random)));
    const run = simulate({ seed, hosts, links, seconds, perMinute });
    const alignment = align(hosts, run.edges);
    expect(alignment.culprits).toEqual([]);
    // As `checkAll` goes: all pairs, at one share after the other, piece by piece.
    const shares: number[] = [];
    for (let piece = 0; piece + 1 < alignment.knots.count; piece++) {
      SHARES.forEach((share, i) => {
        const time = knotTime(alignment.knots, piece + share);
        if (time >= 0 && time <= seconds * 1e9) shares.push(i);
      });
    }
    const checks = checkAll(run, alignment);
    const pairs = (hosts * (hosts - 1)) / 2;
    expect(checks).toHaveLength(pairs * shares.length);
    checks.forEach(({ insideLikely }, i) => {
      const share = shares[Math.floor(i / pairs)]!;
      all[share]!++;
      if (insideLikely) inside[share]!++;
    });
  }
  const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
  expect(sum(inside) / sum(all)).toBeGreaterThan(0.99);
  inside.forEach((count, i) => {
    expect(count / all[i]!, `at ${SHARES[i]!} of the piece`).toBeGreaterThan(0.98);
  });
});

/** Host 5 of a tree in which all others are busy: what it sends and hears, and when. */
const QUIET: readonly (readonly [string, number, number, number])[] = [
  ['heard once a minute', 1, 0, 240],
  ['heard for the first 3 s only', 300, 0, 3],
  ['heard for 10 s only', 60, 100, 110],
];

it.each(QUIET)('a host that is %s among busy ones', (_, perMinute, from, to) => {
  let inside = 0;
  let all = 0;
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
    const checks = checkAll(run, alignment, (a, b) => a === 5 || b === 5);
    all += checks.length;
    inside += checks.filter(({ insideLikely }) => insideLikely).length;
  }
  expect(all).toBeGreaterThan(0);
  expect(inside / all).toBeGreaterThan(0.98);
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
  for (let seed = 1; seed <= 150; seed++) {
    const links = seed % 2 === 0 ? tree(8, () => 14_000) : ring(8, () => 14_000);
    const run = simulate({ seed, hosts: 8, links, seconds: 1, perMinute: 600 });
    expect(align(8, run.edges).culprits, String(seed)).toEqual([]);
  }
});
