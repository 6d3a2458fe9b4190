/** A short run of `npm run fuzz`: forged numbers end no merge, and a stranger's reader reads the same. */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { fuzz } from './fuzz.js';
import { samplesIn } from './run_with.js';
import { inTier } from '../support/tiers/tier.js';

const samples = samplesIn(path.join(fileURLToPath(new URL('../../', import.meta.url)), 'samples'));

it('forged numbers crash no merge, and both readers read the same', async () => {
  const runs = inTier({ first: 40, long: 10_000 });
  const result = await fuzz({
    samples,
    seed: 1_000_000,
    seconds: Infinity,
    runs,
    mergeEvery: inTier({ first: 6, long: 25 }),
  });
  expect(result.findings).toEqual([]);
  expect(result.reads).toBe(runs);
  expect(result.merges).toBeGreaterThan(5);
  expect(result.refused).toBeLessThan(result.reads / 2);
});

it('a record that is repeated thousands of times, with times and numbers that change, ends no merge and takes no minutes', async () => {
  const runs = inTier({ first: 3, long: 500 });
  const found = await fuzz({
    samples,
    seed: 1,
    seconds: Infinity,
    runs,
    mergeEvery: 1,
    copies: inTier({ first: 4096, long: 16_384 }),
  });
  expect(found.findings).toEqual([]);
  expect(found.merges).toBe(runs);
});
