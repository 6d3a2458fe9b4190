/**
 * The picture of a file does not depend on how its rings are read: steps in long runs, as both passes do, or all records one by one in the
 * order of their ticks. On random runs of the loopback: a few of them, 60 in the long tier.
 */

import { rmSync, readdirSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { record } from '../support/jobs/loopback.js';
import { drawFile } from '../support/traces/picture.js';
import { randomRun } from '../support/jobs/random_run.js';
import { inTier } from '../support/tiers/tier.js';

const folder = await mkdtemp(join(tmpdir(), 'reading-order-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const RUNS = inTier({ first: 1, long: 60 });

/** Only rings of steps are read in long runs. All others are merged by their ticks. */
const withoutStepRings: Parameters<typeof drawFile>[3] = (file) => ({
  ...file,
  rings: file.rings.map((ring) => ({ ...ring, class: ring.class === 'steps' ? 'ops' : ring.class })),
});

/** Tracks one by one, each in order of time; arrows are numbered in the order in which they are drawn. */
const linesOf = (path: string, change?: Parameters<typeof drawFile>[3]): string[] =>
  drawFile(path, true, null, change)
    .sink.lines.map((line) => line.replace(/ flow=\d+/, ' flow'))
    .sort();

it.each(Array.from({ length: RUNS }, (_, run) => run))('run %i', async (run) => {
  const { folder: recording } = await record(join(folder, String(run)), randomRun(run));
  const files = readdirSync(recording).filter((name) => name.endsWith('.bin'));
  expect(files.length).toBeGreaterThan(1);
  for (const name of files) {
    const path = join(recording, name);
    const lines = linesOf(path);
    expect(lines.length).toBeGreaterThan(10);
    expect(lines).toEqual(linesOf(path, withoutStepRings));
  }
});
