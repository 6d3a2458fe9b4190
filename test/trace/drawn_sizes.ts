/** Draws runs, for comparing the estimate of a trace's size with what is written. */

import path from 'node:path';
import { expect } from 'vitest';
import { merge, type MergeOptions } from '../../src/merge.js';
import type { MergeReport } from '../../src/report/report.js';

export function drawnInto(folder: string) {
  let traces = 0;
  return async (options: Partial<MergeOptions> & { inputs: readonly string[] }) => {
    const output = path.join(folder, `${traces++}.pftrace`);
    return { output, report: await merge({ output, jobs: 1, hungAfter: 1, ...options }) };
  };
}

/** What the estimate counts: slices that are no instants. */
export const slicesIn = ({ trace }: MergeReport): number => trace.slices - trace.instants;

/** The estimate may be wrong by this factor, either way. */
export function expectWithin(estimated: number, found: number, factor: number): void {
  expect(estimated / found).toBeGreaterThan(1 / factor);
  expect(estimated / found).toBeLessThan(factor);
}
