/** Memory is bounded by the rings and one chunk of each, also for a run of 1 GiB. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { MiB, peak } from './peak.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'memory-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('a long run of 1 GiB of slots is inspected and merged in much less memory', () => {
  const file = path.join(folder, 'long.bin');
  writeLargeStreamFile(file, 2 ** 25, 'zstd');
  expect(peak('inspect', file)).toBeLessThan(170 * MiB);
  expect(peak('merge', file, '--jobs', '1', '-o', path.join(folder, 'out.pftrace'))).toBeLessThan(400 * MiB);
});
