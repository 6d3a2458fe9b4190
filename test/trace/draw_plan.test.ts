/** What is drawn if not everything fits: details, the last stretch of time, and the suspects first. */

import { expect, it } from 'vitest';
import { traceNsFromClockMap as at } from '../../src/base/time.js';
import { fits, UTMOST, type Budget } from '../../src/trace/budget.js';
import { decide } from '../../src/trace/draw_plan.js';
import type { Scope } from '../../src/trace/selection.js';
import { UNKNOWN_COMM, type CommSize } from '../../src/scan/drawn_size.js';
import { TimeCounter } from '../../src/scan/time_counts.js';

const SECONDS = 3600;

/** A collective and the start of a step each second, for an hour; a tick is a ns. */
function hour() {
  const each = new TimeCounter();
  for (let second = 0; second < SECONDS; second++) each.add(second * 1e9);
  const [none, counted] = [new TimeCounter().finish(), each.finish()];
  const comm: CommSize = {
    comm: UNKNOWN_COMM,
    counts: {
      call: none,
      work: counted,
      op: none,
      kernel: none,
      ctrl: none,
      step: counted,
      phase: none,
      net: none,
    },
  };
  const size = { comms: [comm], callRings: new Set([0]) };
  return { size, connections: 0, tickAt: (time: number) => time };
}

it('details stay within the selected window, though the run goes on long after it', () => {
  const window = { from: at(600e9), to: at(2400e9) };
  const { plans, isReduced } = decide({
    files: [hour()],
    cluster: [],
    scope: { files: [0], absentRanks: [], isAllRanks: true, comms: null, window },
    suspects: [0],
    lastMove: SECONDS * 1e9,
    end: SECONDS * 1e9,
    detail: undefined,
    budget: { slices: 1900, tracks: 1000, bytes: 1e9 },
  });
  expect(isReduced).toBe(true);
  const { coll, step } = plans[0]!.windows;
  expect(coll).toEqual(window);
  expect(step!.from).toBeLessThanOrEqual(2390e9);
  expect(step!.from).toBeGreaterThan(600e9);
  expect(step!.to).toBe(2400e9);
});

const ALL = { from: -Infinity, to: Infinity } as Scope['window'];

function decided(files: number, suspects: readonly number[], budget: Budget) {
  return decide({
    files: Array.from({ length: files }, hour),
    cluster: [],
    scope: {
      files: Array.from({ length: files }, (_, i) => i),
      absentRanks: [],
      isAllRanks: true,
      comms: null,
      window: ALL,
    },
    suspects,
    lastMove: SECONDS * 1e9,
    end: SECONDS * 1e9,
    detail: undefined,
    budget,
  });
}

it('the budget is used up: the last stretch of all ranks is as long as possible', () => {
  const whole = decided(4, [], { slices: 1e9, tracks: 1e9, bytes: 1e12 }).size;
  const coll = 4 * SECONDS;
  const budget = { ...whole, slices: coll + (whole.slices - coll) / 3 };
  const { size, plans } = decided(4, [], budget);
  expect(size.slices).toBeLessThanOrEqual(budget.slices);
  expect(size.slices).toBeGreaterThan(0.9 * budget.slices);
  for (const plan of plans) expect(plan!.windows.step!.from).toBeLessThan((SECONDS - 600) * 1e9);
});

it('if not even a second of all ranks fits, steps of some ranks are drawn, the suspect first', () => {
  const whole = decided(4, [], { slices: 1e9, tracks: 1e9, bytes: 1e12 }).size;
  const { plans } = decided(4, [2], { ...whole, slices: 4 * SECONDS + 16 });
  const inSteps = plans.flatMap((plan, file) => (plan?.windows.step ? [file] : []));
  expect(inSteps).toContain(2);
  expect(inSteps.length).toBeLessThan(4);
});

it('tracks cost time: with too many of them the same slices no longer fit', () => {
  const seconds = 15;
  const few = { slices: 1e6, tracks: 1_000, bytes: 0 };
  expect(fits(few, { ...UTMOST, seconds })).toBe(true);
  expect(fits({ ...few, tracks: 20_000 }, { ...UTMOST, seconds })).toBe(true);
  expect(fits({ ...few, tracks: 60_000 }, { ...UTMOST, seconds })).toBe(false);
});
