/** A short run of `npm run fuzz`: forged numbers end no merge, and the kernel reads what the tests' own reader reads. */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { randomOf } from '../support/forged/forged_values.js';
import { fuzz } from './fuzz.js';
import { recordedAt, samplesIn } from './run_with.js';
import { fuzzSlots, windowsOf } from './slots_fuzz.js';
import { inTier } from '../support/tiers/tier.js';

const samples = samplesIn(path.join(fileURLToPath(new URL('../../', import.meta.url)), 'samples'));

it('forged slots are read alike by the kernel and the reference', () => {
  const windows = samples.flatMap((sample) => windowsOf(recordedAt(sample, 0)));
  const runs = inTier({ first: 1000, ci: 3000, long: 1_000_000 });
  const limit = { runs, seconds: Infinity };
  const { executions, withRecords, findings } = fuzzSlots(windows, randomOf(7), limit);
  expect(findings).toEqual([]);
  expect(executions).toBe(runs);
  expect(withRecords).toBeGreaterThan(runs / 2);
});

it('forged numbers crash no merge, and the kernel reads the same from them as the reference', async () => {
  const runs = inTier({ first: 40, ci: 100, long: 10_000 });
  const result = await fuzz({
    samples,
    seed: 1_000_000,
    seconds: Infinity,
    runs,
    mergeEvery: inTier({ first: 6, ci: 10, long: 25 }),
  });
  expect(result.findings).toEqual([]);
  expect(result.reads).toBe(runs);
  expect(result.merges).toBeGreaterThan(5);
  expect(result.refused).toBeLessThan(result.reads / 2);
});

it('a record that is repeated thousands of times, with times and numbers that change, ends no merge and takes no minutes', async () => {
  const runs = inTier({ first: 3, ci: 8, long: 500 });
  const found = await fuzz({
    samples,
    seed: 1,
    seconds: Infinity,
    runs,
    mergeEvery: 1,
    copies: inTier({ first: 4096, ci: 4096, long: 16_384 }),
  });
  expect(found.findings).toEqual([]);
  expect(found.merges).toBe(runs);
});
