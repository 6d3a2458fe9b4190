/** Arrows are counted from both ends' ranges of steps: only steps that both ends drew have one. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countArrows, type FlowEnds } from '../../../src/trace/tracks/flow_census.js';

interface Row {
  readonly operation: number;
  readonly sends: boolean;
  readonly step: number;
}

/** As the kernel lists them, a row per step. */
const ends = (rows: readonly Row[]): FlowEnds => ({
  operation: Float64Array.from(rows, ({ operation }) => operation),
  sends: Int16Array.from(rows, ({ sends }) => Number(sends)),
  from: Int32Array.from(rows, ({ step }) => step),
  end: Int32Array.from(rows, ({ step }) => step + 1),
});

const census = (sends: boolean, steps: readonly number[], operation = 1): FlowEnds =>
  ends(steps.map((step) => ({ operation, sends, step })));

it('counts the steps that both ends have, in whatever order each saw them', () => {
  const steps = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
  fc.assert(
    fc.property(steps, steps, (sent, received) => {
      const both = sent.filter((step) => received.includes(step)).length;
      expect(countArrows([census(true, sent), census(false, received)])).toBe(both);
    }),
  );
});

it('draws nothing between different operations or to a missing end', () => {
  expect(countArrows([census(true, [0, 1]), census(false, [0, 1], 2)])).toBe(0);
});

it('counts the arrows of many operations, whatever their hashes are', () => {
  const step = fc.integer({ min: 0, max: 6 });
  const end = fc.record({ lo: fc.integer({ min: 0, max: 5 }), sends: fc.boolean(), step });
  fc.assert(
    fc.property(fc.uniqueArray(end, { maxLength: 60, selector: (one) => JSON.stringify(one) }), (all) => {
      const isSent = (lo: number, step: number): boolean =>
        all.some((one) => one.sends && one.lo === lo && one.step === step);
      const expected = all.filter(({ lo, sends, step }) => !sends && isSent(lo, step)).length;
      // Their low bits may be equal, and an operation may have several rows.
      const rows = all.map((one) => ({ ...one, operation: one.lo * 2 ** 20 }));
      expect(countArrows([ends(rows)])).toBe(expected);
    }),
  );
});
