/** Bounds of a clock at some instants narrow those at all others: never too much, and as far as a clock that bends as much as it may allows. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { narrow, type Band } from '../../src/clocks/tangents.js';
import { seeded, type Random } from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

/** 0.1 ppm a minute, 1/ns. */
const CURVATURE = 1e-7 / 60e9;
const MAX_RATE = 400e-6;

/** A clock that bends as much as two may against each other, now one way and now the other; ns ahead at a time. */
function restless(random: Random, span: number): (time: number) => number {
  const turns = Array.from({ length: 1 + Math.floor(6 * random()) }, () => random() * span).sort(
    (a, b) => a - b,
  );
  const first = random() < 0.5 ? 1 : -1;
  const rate = (random() - 0.5) * (random() < 0.3 ? 1.99 * MAX_RATE : 20e-6);
  const offset = (random() - 0.5) * 1e6;
  return (time) => {
    let ahead = offset;
    let at = 0;
    let speed = rate;
    let bend = first * 2 * CURVATURE;
    for (const turn of [...turns, Infinity]) {
      const lasts = Math.min(turn, time) - at;
      if (turn >= time || lasts < 0) return ahead + speed * (time - at) + (bend / 2) * (time - at) ** 2;
      ahead += speed * lasts + (bend / 2) * lasts ** 2;
      speed += bend * lasts;
      bend = -bend;
      at = turn;
    }
    return ahead;
  };
}

describe('narrowed bounds', () => {
  it('hold for clocks that bend as much as is declared', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), (seed) => {
        const random = seeded(seed);
        const span = (20 + 400 * random()) * 1e9;
        const clock = restless(random, span);
        const count = 2 + Math.floor(30 * random());
        // Not as near each other as may be: there rounding would matter.
        const times = Float64Array.from({ length: count }, (_, i) => ((i + 0.8 * random()) * span) / count);
        const room = (): number => (random() < 0.3 ? 0 : 10 ** (6 * random()));
        const most = times.map((time) => clock(time) + room());
        const least = times.map((time) => clock(time) - room());
        const guess = times.map((_, i) => least[i]! + (most[i]! - least[i]!) * random());
        const band: Band = { times, most, least, guess };
        narrow(band, CURVATURE, 1 + Math.floor(20 * random()));
        times.forEach((time, i) => {
          expect(band.most[i]! - clock(time)).toBeGreaterThan(-0.01);
          expect(clock(time) - band.least[i]!).toBeGreaterThan(-0.01);
        });
      }),
      { numRuns: inTier({ first: 75, long: 20_000 }) },
    );
  });

  const parabola = (time: number): number => 3e7 + 20e-6 * time + CURVATURE * (time - 20e9) ** 2;
  const times = Float64Array.from({ length: 9 }, (_, i) => 10e9 * i);
  /** Known at two instants, and elsewhere within 10 µs. */
  const known = (a: number, b: number): Band => ({
    times,
    most: times.map((time, i) => parabola(time) + (i === a || i === b ? 0 : 10_000)),
    least: times.map((time, i) => parabola(time) - (i === a || i === b ? 0 : 10_000)),
    guess: times.map(parabola),
  });

  it('are no wider than such a clock needs, on either side of where it is known', () => {
    for (const [a, b] of [
      [0, 2],
      [2, 4],
      [6, 8],
    ] as const) {
      const band = known(a, b);
      narrow(band, CURVATURE, 8);
      const at = band.times;
      at.forEach((time, i) => {
        // One that bends the other way, through the same two.
        const other = parabola(time) - 2 * CURVATURE * (time - at[a]!) * (time - at[b]!);
        if (i < a || i > b) {
          expect(band.most[i]! - parabola(time)).toBeCloseTo(0, 1);
          expect(band.least[i]!).toBeCloseTo(Math.max(parabola(time) - 10_000, other), 1);
        }
      });
    }
  });

  it('stay at the estimate where clocks bend more than assumed', () => {
    const zigzag = times.map((_, i) => (i % 2) * 1e6);
    const band: Band = { times, most: zigzag.slice(), least: zigzag.slice(), guess: zigzag };
    narrow(band, CURVATURE, 8);
    expect(band.most).toEqual(zigzag);
    expect(band.least).toEqual(zigzag);
  });

  it('look no farther than their limit', () => {
    const band = known(0, 1);
    const before = band.most[8];
    narrow(band, 0, 1);
    const one = band.most[8]!;
    expect(one).toBeLessThanOrEqual(before!);
    const all = known(0, 1);
    narrow(all, 0, 8);
    expect(all.most[8]!).toBeLessThanOrEqual(one);
  });
});
