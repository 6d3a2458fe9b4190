/** Arrows are counted from both ends' ranges of steps: only steps that both ends drew have one. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addStep, countArrows, FlowCensus } from '../../../src/trace/tracks/flow_census.js';

const operation = { hi: 1, lo: 2 };

function census(sends: boolean, steps: readonly number[], of = operation): FlowCensus {
  const flows = new FlowCensus();
  const ends = flows.ends(of, sends);
  for (const step of steps) addStep(ends, step);
  return flows;
}

it('counts the steps that both ends have, in whatever order each saw them', () => {
  const steps = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, steps, (sent, received) => {
      const both = sent.filter((step) => received.includes(step)).length;
      expect(countArrows([...census(true, sent).all(), ...census(false, received).all()])).toBe(both);
    }),
  );
});

it('keeps consecutive steps as one range', () => {
  expect(census(true, [0, 1, 2, 3, 7, 8]).all()).toEqual([
    { operation: '1 2', sends: true, ranges: [0, 4, 7, 9] },
  ]);
});

it('draws nothing between different operations or to a missing end', () => {
  const other = census(false, [0, 1], { hi: 1, lo: 3 });
  expect(countArrows([...census(true, [0, 1]).all(), ...other.all()])).toBe(0);
});
