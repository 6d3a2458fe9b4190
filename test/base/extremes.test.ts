/** As Math.max, Math.min and push with a list, without its limit: 120,000 elements overflowed the stack. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { append, maxOf, minOf } from '../../src/base/extremes.js';

const numbers = fc.array(fc.double());

it('equal those of Math', () => {
  fc.assert(
    fc.property(numbers, fc.double(), (values, bound) => {
      expect(maxOf(values)).toBe(Math.max(...values));
      expect(minOf(values)).toBe(Math.min(...values));
      expect(maxOf(values, bound)).toBe(Math.max(bound, ...values));
      expect(minOf(values, bound)).toBe(Math.min(bound, ...values));
    }),
  );
});

it('take a million elements', () => {
  const many = Array.from({ length: 1_000_000 }, (_, i) => i);
  const list = [-1];
  append(list, many);
  expect([maxOf(many), minOf(many), list.length, list.at(-1)]).toEqual([999_999, 0, 1_000_001, 999_999]);
});
