/** Clocks of a machine room that warms up: as exact as the data allow, inside their bounds, and nobody given up. */

import { expect, it } from 'vitest';
import { runWanderCase, wanderCases } from '../support/wander_cases.js';

const long = process.env.NCCL_TRACE_LONG !== undefined;

it.each(wanderCases(2).map((one) => [one.name, one] as const))('%s', (_, one) => {
  const { hardMisses, coverage, givenUp, ratios } = runWanderCase(one, long ? 10 : 2);
  expect(hardMisses).toBe(0);
  expect(givenUp).toBe(0);
  expect(coverage).toBeGreaterThanOrEqual(0.99);
  // Against least squares that were told beforehand what each clock's rate is: also where few pairs happen to be quick.
  expect(ratios[0]).toBeLessThan(1.5);
  expect(ratios[1]).toBeLessThan(1.5);
});
