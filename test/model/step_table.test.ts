/** Steps in flight: a file may leave any number of them open. */

import { expect, it } from 'vitest';
import { ENDED_STEP, NO_STEP, StepTable } from '../../src/model/step_table.js';
import type { Op } from '../../src/model/types.js';

/** Upper word of the handles: ring 0 of a file with this tag. */
const HIGH = 0x8000_0000;

it('finds and ends 100,000 steps that are open at once, in time that grows with their number', () => {
  const steps = new StepTable();
  const rows = Array.from({ length: 100_000 }, (_, i) => {
    const op = { openSteps: [] as number[] } as unknown as Op;
    const row = steps.add(2 * i, HIGH, op, i, i);
    op.openSteps.push(row);
    return row;
  });
  expect(rows.every((row, i) => steps.find(2 * i, HIGH) === row)).toBe(true);
  const begun = performance.now();
  for (const row of rows) steps.end(row);
  // When each end looked at all others, this took ten seconds and more.
  expect(performance.now() - begun).toBeLessThan(3000);
  expect(rows.every((_, i) => [NO_STEP, ENDED_STEP].includes(steps.find(2 * i, HIGH)))).toBe(true);
});

it('keeps the other names of a step when one of them is displaced', () => {
  const steps = new StepTable();
  const op = { openSteps: [] as number[] } as unknown as Op;
  const row = steps.add(0, HIGH, op, 0, 0);
  op.openSteps.push(row);
  steps.name(2, HIGH, row);
  const others = Array.from({ length: 1 << 14 }, (_, i) => steps.add(4 + 2 * i, HIGH, op, 1 + i, 1));
  op.openSteps.push(...others);
  expect([steps.find(0, HIGH), steps.find(2, HIGH)]).toEqual([row, row]);
  steps.end(row);
  expect([steps.find(0, HIGH), steps.find(2, HIGH)]).toEqual([NO_STEP, NO_STEP]);
  expect(steps.find(4, HIGH)).toBe(others[0]);
});
