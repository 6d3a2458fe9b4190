/** That equal runs differ by nothing, however their noise drifts, and that a change beyond their noise is told with its interval. */

import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../src/analysis/changes.js';
import { changeOf, levelOf, noiseBetween, studentQuantile } from '../../src/analysis/noise.js';

/** Deterministic normal deviates. */
function deviates(seed: number): () => number {
  let state = seed * 2654435761;
  const uniform = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Times around `level` that scatter by `noise` and drift by `drift` from one tenth of the run to the next. */
function times(seed: number, { level = 1e6, noise = 0.05, drift = 0, count = 200 } = {}): number[] {
  const next = deviates(seed);
  let drifted = 0;
  return Array.from({ length: count }, (_, i) => {
    if (i % Math.ceil(count / 10) === 0) drifted = 0.7 * drifted + drift * next();
    return level * Math.exp(noise * next() + drifted);
  });
}

const level = (values: readonly number[]) => levelOf(values)!;
const COMPARISONS = 50;

describe('noise', () => {
  it.each([
    ['white', { noise: 0.2 }],
    ['heavy', { noise: 1 }],
    ['drifting', { noise: 0.05, drift: 0.3 }],
  ])('of 300 pairs of equal runs with %s noise none differs', (_, shape) => {
    const told = Array.from({ length: 300 }, (_unused, i) =>
      changeOf(level(times(2 * i + 1, shape)), level(times(2 * i + 2, shape)), COMPARISONS),
    ).filter((change) => change !== null);
    expect(told).toEqual([]);
  });

  it('a change by 30 % in noise of 5 % is reported, with an interval that contains it', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const change = changeOf(level(times(seed)), level(times(seed + 500, { level: 1.3e6 })), COMPARISONS);
      expect(change!.change).toBeCloseTo(0.3, 1);
      expect(change!.low).toBeLessThan(0.3);
      expect(change!.low).toBeGreaterThan(0.05);
      expect(change!.high).toBeGreaterThan(0.3);
    }
  });

  it('a change by 3 % is not worth a line, however quiet the runs', () => {
    const quiet = { noise: 0.001 };
    expect(changeOf(level(times(1, quiet)), level(times(2, { ...quiet, level: 1.03e6 })), 1)).toBeNull();
  });

  it('seven values are too few', () => {
    expect(levelOf(times(1, { count: 7 }))).toBeNull();
    expect(levelOf(times(1, { count: 8 }))).not.toBeNull();
  });

  it('more comparisons need more', () => {
    const [a, b] = [level(times(1)), level(times(2))];
    expect(noiseBetween(a, b, 1000)).toBeGreaterThan(noiseBetween(a, b, 10));
  });

  it('quantiles equal those of published tables', () => {
    expect(studentQuantile(0.05, 10)).toBeCloseTo(2.2281, 4);
    expect(studentQuantile(0.001, 30)).toBeCloseTo(3.646, 3);
    expect(studentQuantile(0.01, 2)).toBeCloseTo(9.9248, 4);
  });
});

describe('a wait that has a floor', () => {
  const FLOOR = 10_000;
  const differenceFrom = (before: number) =>
    differenceOf(
      {
        of: { kind: 'rank', rank: 0 },
        measure: 'peerWait',
        before: levelOf(before === 0 ? Array<number>(200).fill(0) : times(1, { level: before }), FLOOR)!,
        after: levelOf(times(2, { level: 4e6 }), FLOOR)!,
        floor: FLOOR,
        count: 200,
      },
      COMPARISONS,
      1e9,
    );

  it('is compared with what it was', () => {
    expect(differenceFrom(1e6)).toMatchObject({ isWorse: true, change: expect.closeTo(3, 0) as number });
  });

  it.each([0, 2_000])('has no ratio to %i ns', (before) => {
    const found = differenceFrom(before);
    expect(found).toMatchObject({ isWorse: true, change: null, low: null, high: null });
    expect(found!.after).toBeCloseTo(4e6, -6);
  });
});
