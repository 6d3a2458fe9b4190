/** Arrows are counted from both ends' ranges of steps: only steps that both ends drew have one. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countArrows, FlowCensus } from '../../../src/trace/tracks/flow_census.js';

const operation = { hi: 1, lo: 2 << 12 };

function census(sends: boolean, steps: readonly number[], of = operation): FlowCensus {
  const flows = new FlowCensus();
  let row = flows.begin(of, sends);
  for (const step of steps) row = flows.step(row, step);
  return flows;
}

it('counts the steps that both ends have, in whatever order each saw them', () => {
  const steps = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, steps, (sent, received) => {
      const both = sent.filter((step) => received.includes(step)).length;
      expect(countArrows([census(true, sent).all(), census(false, received).all()])).toBe(both);
    }),
  );
});

it('keeps consecutive steps as one range', () => {
  const { from, end, sends } = census(true, [0, 1, 2, 3, 7, 8]).all();
  expect([[...from], [...end], [...sends]]).toEqual([
    [0, 7],
    [4, 9],
    [1, 1],
  ]);
});

it('keeps its content when it grows', () => {
  const flows = new FlowCensus();
  for (let lo = 0; lo < 3000; lo++) flows.step(flows.begin({ hi: 1, lo: lo * 4096 }, lo % 2 === 0), lo);
  const { operation: ids, from, end } = flows.all();
  expect(new Set(ids).size).toBe(3000);
  expect([from[2999], end[2999], from[0], end[0]]).toEqual([2999, 3000, 0, 1]);
});

it('draws nothing between different operations or to a missing end', () => {
  const other = census(false, [0, 1], { hi: 1, lo: 3 << 12 });
  expect(countArrows([census(true, [0, 1]).all(), other.all()])).toBe(0);
});

it('counts the arrows of many operations, whatever their hashes are', () => {
  const step = fc.integer({ min: 0, max: 6 });
  const end = fc.record({ lo: fc.integer({ min: 0, max: 5 }), sends: fc.boolean(), step });
  fc.assert(
    fc.property(fc.uniqueArray(end, { maxLength: 60, selector: (one) => JSON.stringify(one) }), (all) => {
      const flows = new FlowCensus();
      // Their low bits may be equal, and an operation may have several rows.
      for (const { lo, sends, step } of all)
        flows.step(flows.begin({ hi: lo >> 1, lo: (lo << 12) >>> 0 }, sends), step);
      const isSent = (lo: number, step: number): boolean =>
        all.some((one) => one.sends && one.lo === lo && one.step === step);
      const expected = all.filter(({ lo, sends, step }) => !sends && isSent(lo, step)).length;
      expect(countArrows([flows.all()])).toBe(expected);
    }),
  );
});
