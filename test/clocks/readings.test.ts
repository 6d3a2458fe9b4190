/** How wrong a clock may be by the pairs alone, compared with clocks that drift as far as they may. Numbers are small: a clock's second is 1000. */

import { describe, expect, it } from 'vitest';
import { MAX_RATE, mostAhead, type GainRates } from '../../src/clocks/arc_limit.js';
import type { Knots } from '../../src/clocks/corrections.js';
import { adjacency, shortestPaths } from '../../src/clocks/graph.js';
import { worstOfSpans, type Readings } from '../../src/clocks/readings.js';
import { shownAt } from '../../src/clocks/corrected_times.js';

/** Of domain 1, with the pieces as spans. */
const worstOfOther = (of: Readings) => worstOfSpans(of, 1, of.knots);

const KNOTS: Knots = { first: 0, step: 1000, count: 4 };
const rates = (least: number[], most: number[]): GainRates => ({
  least: Float64Array.from(least),
  most: Float64Array.from(most),
});

describe('by how much a clock can be ahead', () => {
  const ahead = (hull: number[], time: number, gain: GainRates, curvature = 0): number =>
    mostAhead(hull, Float64Array.of(time), KNOTS, gain, curvature)[0]!;

  it('from a pair at another time: more by the rate of each piece between', () => {
    const gain = rates([-0.3, -0.2, -0.1], [0.1, 0.2, 0.3]);
    expect(ahead([500, 7], 500, gain)).toBeCloseTo(7);
    expect(ahead([500, 7], 2500, gain)).toBeCloseTo(7 + 50 + 200 + 150);
    expect(ahead([2500, 7], 500, gain)).toBeCloseTo(7 + 50 + 200 + 150);
    // Beyond the knots the outer rates go on.
    expect(ahead([500, 7], -100, gain)).toBeCloseTo(7 + 180);
    expect(ahead([2500, 7], 3100, gain)).toBeCloseTo(7 + 180);
  });

  it('from two pairs: as much as clocks can bend between them', () => {
    const any = rates([-9, -9, -9], [9, 9, 9]);
    expect(ahead([500, 7, 1500, 9], 1000, any, 1e-5)).toBeCloseTo(8 + 1e-5 * 500 * 500);
    expect(ahead([500, 7, 1500, 9], 1000, rates([0, 0, 0], [0, 0, 0]), 1e-5)).toBeCloseTo(7);
  });
});

describe('the worst of a piece', () => {
  /** A clock's second is 1e6 here: so that it can drift. */
  const LONG: Knots = { first: 0, step: 1e6, count: 4 };

  /** Of domain 1 against domain 0, whose corrections are 0. */
  function readings(
    late: (instant: number) => number,
    values: number[],
    early = 1e5,
    curvature = 0,
  ): Readings {
    const corrections = [new Float64Array(4), Float64Array.from(values)];
    const instants = Float64Array.from({ length: 7 }, (_, i) => 5e5 * i);
    return {
      source: 0,
      knots: LONG,
      corrections,
      instants,
      perPiece: 2,
      shown: instants,
      late: [...instants].map((instant) => Float64Array.of(0, late(instant))),
      early: [...instants].map(() => Float64Array.of(0, early)),
      curvature,
    };
  }

  it('lies between instants, where a clock bends', () => {
    // Ahead by a parabola that is 7 at all instants, and 7 + 1e-11 * 2.5e5 * 2.5e5 between them.
    const bent = readings(() => 7, [0, 0, 0, 0], 1e5, 1e-11);
    const { below } = worstOfOther(bent)[1]!;
    expect(below).toBeGreaterThanOrEqual(7 + 1e-11 * 2.5e5 ** 2);
    expect(below).toBeLessThan(7 + 1e-11 * 2.5e5 ** 2 + 0.01);
  });

  it('lies behind the last instant, where the other clock is late', () => {
    // Domain 1 shows 2e6 to 3e6 when domain 0 shows 2.3e6 to 3.3e6, or 1e5 later; it goes on there as fast as it may.
    const late = readings(() => 10, [3e5, 3e5, 3e5, 3e5]);
    const { below } = worstOfOther(late)[2]!;
    expect(below).toBeGreaterThanOrEqual(10 + MAX_RATE * 2.9e5);
    expect(below).toBeLessThan(10 + MAX_RATE * 4.1e5);
    // And 1e6 to 2e6 when domain 0 shows 1.3e6 to 2.3e6: of the next instant's 110 three fifths.
    const rising = readings((instant) => (instant > 2e6 ? 110 : 10), [3e5, 3e5, 3e5, 3e5]);
    expect(worstOfOther(rising)[1]!.below).toBeGreaterThan(60);
    expect(worstOfOther(rising)[0]!.below).toBeCloseTo(10);
  });

  it('grows no faster than the evidence at both ends of the run allows', () => {
    // Within 10 to either side for 3e6: its rate is bounded by 20 in 3e6.
    const known = readings(() => 10, [3e5, 3e5, 3e5, 3e5], 10);
    const { below } = worstOfOther(known)[2]!;
    expect(below).toBeGreaterThanOrEqual(10 + (20 / 3e6) * 2.9e5);
    expect(below).toBeLessThan(10 + (20 / 3e6) * 3.1e5);
  });

  it('lies at a knot that the clock comes to between instants', () => {
    // The correction turns down at 1e6, which the clock shows when domain 0 shows 1.2e6; until then it rose by 0.2.
    const values = [0, 2e5, 0, 0];
    const bent = readings(() => 0, values, 1e6);
    const knotAt = 1e6 + 2e5;
    expect(shownAt(LONG, bent.corrections[1]!, knotAt)).toBeCloseTo(1e6);
    // The chord from what it shows at 1e6 (833,333) to what it shows at 1.5e6 (1.375e6) is at 1e6 when domain 0 shows 1.15385e6.
    expect(worstOfOther(bent)[0]!.below).toBeCloseTo(knotAt - 1.15385e6, -2);
  });

  it('is unbounded on a side without evidence', () => {
    const { below, above } = worstOfOther(readings(() => Infinity, [0, 0, 0, 0], 5))[1]!;
    expect(below).toBe(Infinity);
    expect(above).toBeCloseTo(5);
  });
});

it('a path is longer behind arcs whose clocks drift while it is walked', () => {
  const arcs = [
    { from: 0, to: 1 },
    { from: 1, to: 2 },
  ];
  const lengths = Float64Array.of(10, 20);
  const stretch = Float64Array.of(1.1, 1.5);
  expect([...shortestPaths(adjacency(3, arcs, 'from'), lengths, 0, stretch)]).toEqual([0, 11, 31 * 1.5]);
  expect([...shortestPaths(adjacency(3, arcs, 'to'), lengths, 2, stretch)]).toEqual([40 * 1.1, 30, 0]);
});
