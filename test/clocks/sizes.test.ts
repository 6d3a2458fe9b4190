/** Messages that are larger one way than the other: how much longer they take is not known, and the bounds include it. */

import { describe, expect, it } from 'vitest';
import { align } from '../../src/clocks/alignment.js';
import { compareLikes, sizeClass } from '../../src/clocks/evidence.js';
import { checkAll, seeded, simulate, type SimulatedLink } from '../support/clocks/simulated_links.js';

const KB = 1000;

/** Neighbours of a pipeline: activations one way, gradients the other. */
const pipeline = (hosts: number, forth: number, back: number, seed: number): SimulatedLink[] => {
  const random = seeded(seed);
  const delay = (): number => 14_000 * (1 + 0.15 * (2 * random() - 1));
  return Array.from({ length: hosts - 1 }, (_, i): SimulatedLink[] => [
    { from: i, to: i + 1, delay: delay(), sizes: [forth * KB] },
    { from: i + 1, to: i, delay: delay(), sizes: [back * KB] },
  ]).flat();
};

/** All to all, each pair of hosts with sizes of its own. */
const experts = (hosts: number, seed: number): SimulatedLink[] => {
  const random = seeded(seed);
  return Array.from({ length: hosts * hosts }, (_, i) => ({ from: Math.floor(i / hosts), to: i % hosts }))
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) => ({
      from,
      to,
      delay: 14_000 * (1 + 0.15 * (2 * random() - 1)),
      sizes: Array.from({ length: 6 }, () => Math.round(16 * KB * 64 ** random())),
    }));
};

function coverage(hosts: number, links: (seed: number) => SimulatedLink[]): number {
  const checks = [1, 2, 3, 4, 5, 6].flatMap((seed) => {
    const run = simulate({ seed, hosts, links: links(seed), seconds: 60, perMinute: 400 });
    const all = checkAll(run, align(hosts, run.edges));
    for (const { insideHard } of all) expect(insideHard).toBe(true);
    return all;
  });
  expect(checks.length).toBeGreaterThan(100);
  return checks.filter(({ insideLikely }) => insideLikely).length / checks.length;
}

describe('the 99 % bound holds', () => {
  it.each([
    [70, 520],
    [600, 1000],
    [70, 60],
    [300, 4000],
    [64, 64],
    [10, 60],
  ])('in a pipeline with %d KB one way and %d KB the other', (forth, back) => {
    expect(coverage(4, (seed) => pipeline(4, forth, back, seed))).toBeGreaterThanOrEqual(0.99);
    expect(coverage(2, (seed) => pipeline(2, forth, back, seed))).toBeGreaterThanOrEqual(0.99);
  });

  it('where experts exchange unequal sizes, all to all', () => {
    expect(coverage(4, (seed) => experts(4, seed))).toBeGreaterThanOrEqual(0.99);
  });
});

it('classes of large messages span less than half as much again', () => {
  const sizes = Array.from({ length: 100 }, (_, i) => Math.round(70_000 * 1.05 ** i)).filter(
    (size) => size < 16e6,
  );
  const largest = new Map<string, number>();
  const smallest = new Map<string, number>();
  for (const size of sizes) {
    const name = sizeClass(size);
    largest.set(name, Math.max(size, largest.get(name) ?? 0));
    smallest.set(name, Math.min(size, smallest.get(name) ?? Infinity));
  }
  for (const [name, most] of largest) expect(most / smallest.get(name)!).toBeLessThan(1.5);
});

it('likenesses are listed from the largest size to the smallest', () => {
  const names = [
    'data up to 8 KiB',
    'credit',
    'data larger',
    'data up to 91 KiB',
    'data up to 128 KiB',
    'data up to 64 KiB',
  ];
  expect(names.sort(compareLikes)).toEqual([
    'credit',
    'data larger',
    'data up to 128 KiB',
    'data up to 91 KiB',
    'data up to 64 KiB',
    'data up to 8 KiB',
  ]);
});
