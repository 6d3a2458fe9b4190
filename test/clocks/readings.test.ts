/** What pairs leave open, held against clocks that go as far as they may. Numbers are small: a clock's second is 1000. */

import { describe, expect, it } from 'vitest';
import { mostAhead, type GainRates } from '../../src/clocks/arc_limit.js';
import type { Knots } from '../../src/clocks/corrections.js';
import { adjacency, shortestPaths } from '../../src/clocks/graph.js';
import { worstOfPiece, type Readings } from '../../src/clocks/readings.js';
import { shownAt } from '../../src/clocks/shown.js';

const KNOTS: Knots = { first: 0, step: 1000, count: 4 };
const rates = (least: number[], most: number[]): GainRates => ({
  least: Float64Array.from(least),
  most: Float64Array.from(most),
});

describe('by how much a clock can be ahead', () => {
  const ahead = (hull: number[], time: number, gain: GainRates, curvature = 0): number =>
    mostAhead(hull, Float64Array.of(time), KNOTS, gain, curvature)[0]!;

  it('of a pair at another time: more by the rate of each piece between', () => {
    const gain = rates([-0.3, -0.2, -0.1], [0.1, 0.2, 0.3]);
    expect(ahead([500, 7], 500, gain)).toBeCloseTo(7);
    expect(ahead([500, 7], 2500, gain)).toBeCloseTo(7 + 50 + 200 + 150);
    expect(ahead([2500, 7], 500, gain)).toBeCloseTo(7 + 50 + 200 + 150);
    // Beyond the knots the outer rates go on.
    expect(ahead([500, 7], -100, gain)).toBeCloseTo(7 + 180);
    expect(ahead([2500, 7], 3100, gain)).toBeCloseTo(7 + 180);
  });

  it('of two pairs: as much as clocks can bend between them', () => {
    const any = rates([-9, -9, -9], [9, 9, 9]);
    expect(ahead([500, 7, 1500, 9], 1000, any, 1e-5)).toBeCloseTo(8 + 1e-5 * 500 * 500);
    expect(ahead([500, 7, 1500, 9], 1000, rates([0, 0, 0], [0, 0, 0]), 1e-5)).toBeCloseTo(7);
  });
});

describe('the worst of a piece', () => {
  /** Of domain 1 against domain 0, whose corrections are 0. */
  function readings(late: (instant: number) => number, values: number[], curvature = 0): Readings {
    const corrections = [new Float64Array(4), Float64Array.from(values)];
    const instants = Float64Array.from({ length: 7 }, (_, i) => 500 * i);
    const reach = [...instants].map((instant) => Float64Array.of(0, late(instant)));
    return {
      source: 0,
      knots: KNOTS,
      corrections,
      instants,
      shown: instants,
      late: reach,
      early: reach.map(() => Float64Array.of(0, 5)),
      rates: () => rates([0, 0, 0], [0.01, 0.01, 0.01]),
      curvature,
    };
  }

  it('lies between instants, where a clock bends', () => {
    // Ahead by a parabola that is 7 at all instants, and 7 + 1e-5 * 250 * 250 between them.
    const { below } = worstOfPiece(
      readings(() => 7, [0, 0, 0, 0], 1e-5),
      1,
      1,
    );
    expect(below).toBeGreaterThanOrEqual(7 + 1e-5 * 250 * 250);
    expect(below).toBeLessThan(7 + 1e-5 * 250 * 250 + 0.01);
  });

  it('lies behind the last instant, where the other clock is late', () => {
    // Domain 1 shows 2000 to 3000 when domain 0 shows 2300 to 3300; its outermost rate goes on there.
    const late = readings(() => 10, [300, 300, 300, 300]);
    expect(worstOfPiece(late, 1, 2).below).toBeGreaterThanOrEqual(10 + 0.01 * 290);
    // And 1000 to 2000 when domain 0 shows 1300 to 2300: of the next instant's 110 three fifths.
    const rising = readings((instant) => (instant > 2000 ? 110 : 10), [300, 300, 300, 300]);
    expect(worstOfPiece(rising, 1, 1).below).toBeGreaterThan(60);
    expect(worstOfPiece(rising, 1, 0).below).toBeCloseTo(10);
  });

  it('lies at a knot that the clock comes to between instants', () => {
    // The correction turns down at 1000, which the clock shows when domain 0 shows 1240; until then it rose by 0.2.
    const values = [0, 200, 0, 0];
    const bent = readings(() => 0, values);
    const knotAt = 1000 + 200;
    expect(shownAt(KNOTS, bent.corrections[1]!, knotAt)).toBeCloseTo(1000);
    // The chord from what it shows at 1000 (833.3) to what it shows at 1500 (1375) is at 1000 when domain 0 shows 1153.8.
    expect(worstOfPiece(bent, 1, 0).below).toBeCloseTo(knotAt - 1153.8, 0);
  });

  it('is unbounded to the side of which nothing is known', () => {
    expect(
      worstOfPiece(
        readings(() => Infinity, [0, 0, 0, 0]),
        1,
        1,
      ),
    ).toEqual({ below: Infinity, above: 5 });
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
