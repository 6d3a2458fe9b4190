/** Clocks of a machine room that warms up: as exact as the data allow, inside their bounds, and nobody given up. */

import { expect, it } from 'vitest';
import { wanderCases } from '../support/clocks/clock_table.js';
import { judge, nameOf, type JudgedCase } from '../support/clocks/judged_run.js';
import { inTier } from '../support/tiers/tier.js';
import { fansOf, rampOf, sineOf, type NamedWander, type TopologyName } from '../support/clocks/topologies.js';

const CASES = wanderCases(2).filter((_, i) => i % inTier({ first: 6, long: 1 }) === 0);

it.each(CASES.map((one) => [nameOf(one), one] as const))('%s', (_, one) => {
  const { hardMisses, coverage, givenUp, medianNs, ns99, best } = judge(one, inTier({ first: 2, long: 10 }));
  expect(hardMisses).toBe(0);
  expect(givenUp).toBe(0);
  expect(coverage).toBeGreaterThanOrEqual(0.99);
  // Against least squares that were told beforehand what each clock's rate is: also where few pairs happen to be quick.
  expect(medianNs / best[0]).toBeLessThan(1.5);
  expect(ns99 / best[1]).toBeLessThan(1.5);
});

const pause = (wander: NamedWander, topology: TopologyName = 'pair'): JudgedCase => ({
  topology,
  delays: '14 us, 15 %',
  wander,
  seconds: 300,
  perMinute: 400,
  change: () => ({ tamper: (_, time, delay) => (time > 100e9 && time < 200e9 ? null : delay) }),
});

it.each([rampOf(3), sineOf(3, 180), fansOf(3)])(
  'a pause of 100 s, $name: as exact as the data allow',
  (wander) => {
    const { hardMisses, ns99, best } = judge(pause(wander), inTier({ first: 2, long: 20 }), true, 500);
    expect(hardMisses).toBe(0);
    expect(ns99 / best[1]).toBeLessThan(1.5);
  },
);

it.each([
  ['pair', inTier({ first: 20, long: 400 })],
  ['ring', inTier({ first: 2, long: 6 })],
] as const)(
  'a pause of 100 s, %s: truth is inside the bounds, however the clocks changed before and after it',
  (topology, draws) => {
    const { hardMisses, coverage } = judge(pause(fansOf(3), topology), draws, false, 1000);
    expect(hardMisses).toBe(0);
    expect(coverage).toBeGreaterThan(0.998);
  },
);

const FEW: readonly TopologyName[] = ['pair', 'tree', 'ring, credits'];

it.each(inTier({ first: FEW.slice(0, 1), long: FEW }))(
  '13 messages a minute, %s: as exact as the data allow',
  (topology) => {
    const few: JudgedCase = {
      topology,
      delays: '14 us, 15 %',
      wander: sineOf(1, 600),
      seconds: 600,
      perMinute: 13,
    };
    const { hardMisses, coverage, medianNs, ns99, best } = judge(few, topology === 'pair' ? 6 : 1, true, 500);
    expect(hardMisses).toBe(0);
    expect(coverage).toBeGreaterThan(0.99);
    expect(medianNs / best[0]).toBeLessThan(1.5);
    expect(ns99 / best[1]).toBeLessThan(1.5);
  },
);
