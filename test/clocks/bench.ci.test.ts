/** The benchmark of clocks still runs, and its simulated cases keep their bounds. */

import { expect, it } from 'vitest';
import { simulated } from '../../bench/clocks.js';

it('npm run bench:clocks', () => {
  const results = simulated(true, () => undefined);
  for (const { name, hardMisses, coverage } of results) {
    expect(hardMisses, name).toBe(0);
    if (!name.includes('broken')) expect(coverage, name).toBeGreaterThan(0.97);
  }
  expect(results.length).toBeGreaterThan(15);
});
