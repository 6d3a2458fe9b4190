/** A long ring is solved at once, and to the same as in many rounds. */

import { expect, it } from 'vitest';
import { SparseLeastSquares } from '../../src/clocks/least_squares.js';
import { orderOf } from '../../src/clocks/ordered_cholesky.js';
import { seeded } from '../support/clocks/simulated_links.js';

const CLOCKS = 200;
const KNOTS = 3;

/** Differences of neighbours in a ring at each knot, all late by one delay. */
function ringOf(blocks: number): Float64Array {
  const random = seeded(3);
  const delay = CLOCKS * KNOTS;
  const system = new SparseLeastSquares(delay + 1, { count: blocks, size: KNOTS, shared: 1 });
  for (let clock = 0; clock < CLOCKS; clock++) {
    for (let knot = 0; knot < KNOTS; knot++) {
      const own = clock * KNOTS + knot;
      const next = ((clock + 1) % CLOCKS) * KNOTS + knot;
      // The first clock is the reference.
      const indices = [clock === 0 ? -1 : own, next < KNOTS ? -1 : next, delay];
      system.add(indices, [1, -1, 1], 1000 * random(), 1);
    }
    system.add([clock * KNOTS, clock * KNOTS + 1, clock * KNOTS + 2], [1, -2, 1], 0, 10);
  }
  return system.solve(new Float64Array(delay + 1));
}

it('gives what rounds give', () => {
  const once = ringOf(CLOCKS);
  const inRounds = ringOf(0);
  const largest = inRounds.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  expect(largest).toBeGreaterThan(100);
  for (let i = KNOTS; i < once.length; i++) expect(Math.abs(once[i]! - inRounds[i]!)).toBeLessThan(0.1);
});

it('numbers a ring so that neighbours stay near, and what all share comes last', () => {
  const terms = {
    rows: CLOCKS,
    width: 3,
    index: Int32Array.from(Array.from({ length: CLOCKS }, (_, i) => [i, (i + 1) % CLOCKS, CLOCKS]).flat()),
    value: new Float64Array(3 * CLOCKS).fill(1),
  };
  const { place, first } = orderOf(CLOCKS + 1, 1, terms);
  expect(place[CLOCKS]).toBe(CLOCKS);
  for (let at = 0; at < CLOCKS; at++) expect(at - first[at]!).toBeLessThan(5);
});
