/**
 * Traces mean the same as those of an older commit: for a change that only makes the merge faster. On 60 random runs of the loopback.
 *
 *   OLDER_COMMIT=COMMIT npx vitest run test/end_to_end/older_code.long.test.ts
 */

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { transpileModules } from '../../scripts/bundle.mjs';
import { buildKernel } from '../../scripts/kernel.mjs';
import { merge } from '../../src/merge.js';
import { record } from '../support/jobs/loopback.js';
import { meaningOf } from '../support/traces/meaning.js';
import { randomRun } from '../support/jobs/random_run.js';

const RUNS = 60;

const commit = process.env.OLDER_COMMIT ?? '';
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = commit === '' ? '' : await mkdtemp(join(tmpdir(), 'older-code-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A process of its own: protobufjs keeps the messages of one program. */
const MERGE = `
  const [modules, output, ...inputs] = process.argv.slice(1);
  const { merge } = await import(modules);
  await merge({ inputs, output, jobs: 1 });
`;

type Merge = (inputs: readonly string[], output: string) => Promise<unknown>;

/** By the code of that commit, with the packages and the addon of this checkout. */
async function olderMerge(): Promise<Merge> {
  const older = join(folder, 'older');
  mkdirSync(join(older, 'build'), { recursive: true });
  const input = execFileSync('git', ['archive', commit, 'src', 'package.json'], {
    cwd: root,
    maxBuffer: 1 << 28,
  });
  execFileSync('tar', ['-x', '-C', older], { input });
  for (const shared of ['node_modules', 'build/nccl-trace-decoder.node'])
    symlinkSync(join(root, shared), join(older, shared));
  await transpileModules(older);
  if (existsSync(join(older, 'src/kernel'))) await buildKernel(older);
  const modules = pathToFileURL(join(older, 'build/modules/merge.js')).href;
  const node = ['--input-type=module', '-e', MERGE, modules];
  return (inputs, output) => promisify(execFile)(process.execPath, [...node, output, ...inputs]);
}

const merged: Merge = (inputs, output) => merge({ inputs, output, jobs: 1 });

describe.skipIf(commit === '')('the same meaning as of older code', async () => {
  const older = commit === '' ? merged : await olderMerge();

  it.each(Array.from({ length: RUNS }, (_, run) => run))('run %i', async (run) => {
    const place = join(folder, String(run));
    const recording = await record(place, randomRun(run));
    const inputs = readdirSync(recording.folder)
      .filter((name) => name.endsWith('.bin'))
      .map((name) => join(recording.folder, name));
    const traceBy = async (code: Merge, name: string): Promise<Buffer> => {
      const output = join(place, `${name}.pftrace`);
      await code(inputs, output);
      return readFileSync(output);
    };
    const now = await traceBy(merged, 'now');
    const before = await traceBy(older, 'older');
    const lines = meaningOf(now);
    expect(lines.length).toBeGreaterThan(100);
    if (!now.equals(before)) expect(lines).toEqual(meaningOf(before));
  });
});
