/** Memory is bounded by the rings and one chunk of each, not by the length of the run. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { writeLargeStreamFile } from '../support/rank_files/large_stream_file.js';
import { MiB, peak } from './peak.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'memory-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('a long run', () => {
  it('is inspected in little memory (decoded all at once it would take 200 MiB)', () => {
    const file = path.join(folder, 'short.bin');
    const slots = 2 ** 21;
    expect(writeLargeStreamFile(file, slots, 'zstd')).toBeGreaterThan(slots);
    expect(peak('inspect', file)).toBeLessThan(170 * MiB);
  });
});
