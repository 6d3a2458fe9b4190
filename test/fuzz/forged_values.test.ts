/** A short run of `npm run fuzz`: forged numbers end no merge, and both decoders read the same. */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { fuzz } from './fuzz.js';
import { samplesIn } from './run_with.js';

const samples = samplesIn(path.join(fileURLToPath(new URL('../../', import.meta.url)), 'samples'));
const LONG = process.env.NCCL_TRACE_LONG === '1';

it('forged numbers are no findings', async () => {
  const result = await fuzz({
    samples,
    seed: 1_000_000,
    seconds: Infinity,
    runs: LONG ? 20_000 : 100,
    mergeEvery: LONG ? 25 : 10,
  });
  expect(result.findings).toEqual([]);
  expect(result.reads).toBe(LONG ? 20_000 : 100);
  expect(result.merges).toBeGreaterThan(5);
  expect(result.refused).toBeLessThan(result.reads / 2);
});
