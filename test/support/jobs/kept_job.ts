/**
 * A job of the loopback whose recording is kept in test/fixtures/loopback. The first tier plays it; the others record it anew, on this
 * machine and at this load. KEEP_RECORDINGS=1 keeps what they record.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { record } from './loopback.js';
import { PROJECT } from './native.js';
import { unpackRecording } from './packed_recording.js';

const KEPT = join(PROJECT, 'test/fixtures/loopback');
const isPlayed = inject('tier') === 'first';

/** As `record`: returns where the rank files are, below a new folder in `folder`. */
export async function keptJob(
  name: string,
  folder: string,
  args: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const own = mkdtempSync(join(folder, `${name}-`));
  const job = join(KEPT, `${name}.args`);
  if (isPlayed) {
    expect(readFileSync(job, 'utf8'), `${name} was recorded with other options`).toBe(`${args}\n`);
    return unpackRecording(`loopback/${name}`, own);
  }
  const recording = (await record(own, args, settings)).folder;
  if (process.env.KEEP_RECORDINGS === '1') {
    const pack = [join(PROJECT, 'scripts/pack-recording.mjs'), recording, join(KEPT, `${name}.br`)];
    execFileSync(process.execPath, pack);
    writeFileSync(job, `${args}\n`);
  }
  return recording;
}
