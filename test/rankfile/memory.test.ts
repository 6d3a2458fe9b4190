/** Memory is bounded by the rings and one chunk of each, not by the length of the run. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { writeLargeStreamFile } from '../support/large_stream_file.js';

const program = fileURLToPath(new URL('../../bin/nccl-trace.js', import.meta.url));
const isLong = process.env.NCCL_TRACE_LONG === '1';
const MiB = 2 ** 20;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'memory-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Not maxRSS of resourceUsage: in a child process it begins with the parent's peak. */
const TELL_PEAK =
  "data:text/javascript,import { readFileSync } from 'node:fs';" +
  "process.on('exit', () => console.error(readFileSync('/proc/self/status', 'latin1')))";

/** Peak resident bytes of a command in a process of its own. */
function peak(...words: readonly string[]): number {
  const run = spawnSync(process.execPath, ['--import', TELL_PEAK, program, ...words], { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(run.stderr)?.[1]) * 1024;
}

describe('a long run', () => {
  it('is inspected in little memory (decoded all at once it would take 200 MiB)', () => {
    const file = path.join(folder, 'short.bin');
    const slots = 2 ** 21;
    expect(writeLargeStreamFile(file, slots, 'zstd')).toBeGreaterThan(slots);
    expect(peak('inspect', file)).toBeLessThan(170 * MiB);
  });

  it.runIf(isLong)(
    'of 1 GiB of slots is inspected and merged in much less memory',
    () => {
      const file = path.join(folder, 'long.bin');
      writeLargeStreamFile(file, 2 ** 25, 'zstd');
      expect(peak('inspect', file)).toBeLessThan(170 * MiB);
      expect(peak('merge', file, '--jobs', '1', '-o', path.join(folder, 'out.pftrace'))).toBeLessThan(
        400 * MiB,
      );
    },
    600_000,
  );
});
