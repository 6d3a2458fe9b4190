/** Merging in steps gives the bytes of `merge`, whichever files were scanned and converted together. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { merge } from '../../src/merge.js';
import { traceTexts } from '../../src/report/headline.js';
import { record } from '../support/jobs/loopback.js';
import { mergeInSteps, type SharedOptions } from '../support/traces/sharded.js';
import { seeded } from '../support/clocks/simulated_links.js';
import { drawSkews, skewRun } from '../support/clocks/skewed_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { inTier } from '../support/tiers/tier.js';

const root = fileURLToPath(new URL('../../samples', import.meta.url));
const samples = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const folder = folderOfFile();

const filesOf = (place: string): string[] =>
  readdirSync(place)
    .filter((name) => name.endsWith('.bin'))
    .map((name) => path.join(place, name));

async function expectEqual(
  files: readonly string[],
  seed: number,
  options: SharedOptions = {},
  name = 'steps.pftrace',
): Promise<void> {
  const own = mkdtempSync(path.join(folder, 'equal-'));
  const output = path.join(own, `merged-${name}`);
  await merge({ ...options, inputs: files, output, texts: traceTexts, jobs: 1 });
  const joined = await mergeInSteps(files, own, seeded(seed), options, name);
  expect(readFileSync(joined).equals(readFileSync(output))).toBe(true);
}

const SAMPLES = samples.map(({ name }) => name);

describe('merged in steps: the same bytes', () => {
  it.each(inTier({ first: ['hosts', 'hang', 'pxn', 'stream-killed'], long: SAMPLES }))(
    'sample %s',
    async (name) => {
      await expectEqual(filesOf(path.join(root, name)), 1);
    },
  );

  it.each(['steps.pftrace.gz', 'steps.pftrace.zst'])('as %s', async (name) => {
    await expectEqual(filesOf(path.join(root, 'hosts')), 2, {}, name);
  });

  it('also with wall clocks only, a selection, and aliases for names', async () => {
    const select = { ranks: [[0, 1]] as const, last: 50e6, detail: 'step' as const };
    await expectEqual(filesOf(path.join(root, 'hosts')), 3, { clock: 'realtime', select, redact: true });
  });
});

const OPS = ['allreduce:64K', 'allreduce:4M', 'allgather:128K', 'broadcast:32K', 'sleep:5ms'];
const RUNS = inTier({ first: 1, long: 30 });

describe('random runs, in random shards', () => {
  it.each(Array.from({ length: RUNS }, (_, i) => i))('run %i', async (run) => {
    const random = seeded(1000 + run);
    const pick = (most: number): number => 1 + Math.floor(random() * most);
    const ranks = 2 + pick(4);
    const ops = Array.from({ length: pick(3) }, () => OPS[pick(OPS.length) - 1]!).join(',');
    const place = path.join(folder, `run-${run}`);
    mkdirSync(place);
    const args = `--ranks ${ranks} --channels ${pick(3)} --iterations ${pick(12)} --ops ${ops},allreduce:1M`;
    const recording = await record(path.join(place, 'recorded'), args, { NCCL_TRACE_RING_MB: '1' });
    // Every second one as if each rank, or each pair, had its own host.
    const hosts = run % 2 === 0 ? ranks : Math.ceil(ranks / 2);
    const isSkewed = run % 4 !== 3;
    const files = isSkewed
      ? skewRun(recording.folder, path.join(place, 'skewed'), drawSkews(run, hosts, 2e9)).files
      : filesOf(recording.folder);
    await expectEqual(files, 2000 + run);
  });
});
