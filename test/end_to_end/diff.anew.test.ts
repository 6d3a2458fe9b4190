/** `nccl-trace diff` on a recorded pair, which the first tier plays: for a slow link, the link and the collectives over it are named. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunDiff } from '../../src/report/diff.js';
import { keptJob } from '../support/jobs/kept_job.js';
import { runProgram, type ProgramResult } from '../support/program/program.js';
import { folderOfFile } from '../support/program/temporary_folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = folderOfFile();

const diff = (before: string, after: string, ...args: string[]) =>
  runProgram(root, 'diff', before, after, ...args);

describe('a link that got slow', () => {
  // Slow enough that both recordings wait most of their time.
  const JOB = '--ranks 4 --channels 1 --iterations 20 --ops allreduce:256K --rate-limit 20';
  let [healthy, slow] = ['', ''];
  let told: ProgramResult;
  const differs = (): boolean =>
    (JSON.parse(told.out.toString()) as RunDiff).differences.some(({ measure }) => measure === 'duration');
  beforeAll(async () => {
    // If the load of the machine changes between the two recordings, the noise is as large as the difference.
    for (let attempt = 0; attempt === 0 || (attempt < 3 && !differs()); attempt++) {
      healthy = await keptJob('diff-healthy', folder, JOB);
      slow = await keptJob('diff-slow', folder, `${JOB} --slow link:1:2`);
      told = await diff(healthy, slow, '--json', '--fail-on', '5%');
    }
  });

  it('is named, with what it costs, and fails a pipeline', () => {
    const { code, out } = told;
    expect(code).toBe(1);
    const { differences, onlyBefore, onlyAfter } = JSON.parse(out.toString()) as RunDiff;
    const duration = differences.find(({ measure }) => measure === 'duration')!;
    expect(duration).toMatchObject({ of: { func: 'AllReduce', commSize: 4 }, isWorse: true });
    expect(duration.change).toBeGreaterThan(1);
    expect(duration.low).toBeLessThan(duration.change!);
    expect(duration.costNs).toBeGreaterThan(0);
    const links = differences.filter(({ of, isWorse }) => of.kind === 'link' && isWorse);
    expect(links.map(({ of }) => of)).toEqual([expect.objectContaining({ source: 1, destination: 2 })]);
    expect([onlyBefore, onlyAfter]).toEqual([[], []]);
  });

  it('in the other direction no collective is slower', async () => {
    const { out } = await diff(slow, healthy);
    expect(out.toString()).toMatch(/better: +AllReduce of 256 KiB/);
    expect(out.toString()).toMatch(/better: +link 1 -> 2/);
    expect(out.toString()).not.toMatch(/worse: +(AllReduce|link 1 -> 2)/);
  });

  it('the same two runs give the same output each time', async () => {
    const again = await diff(healthy, slow, '--json');
    expect(again.out.equals(told.out)).toBe(true);
  });

  it('a run is not compared with itself, and a limit is a percentage', async () => {
    const { code, err } = await diff(slow, slow);
    expect(code).toBe(2);
    expect(err).toContain('the same run');
    expect(await diff(healthy, slow, '--fail-on', 'much')).toMatchObject({ code: 2 });
  });

  it('another algorithm and other channels are told first, whatever the noise', async () => {
    const JOB_OF_TREES = JOB.replace('--channels 1', '--channels 4');
    const trees = await keptJob('diff-tree', folder, `${JOB_OF_TREES} --algo tree`);
    const [first, chosen] = (await diff(trees, healthy)).out.toString().split('\n');
    expect(first).toBe('NCCL chose otherwise: no matter of noise');
    expect(chosen).toMatch(
      /^ {2}chosen: +AllReduce of 256 KiB .*: TREE\/LL to RING\/LL, 4 to 1 channels, in 19 of 19$/,
    );
    expect((await diff(healthy, slow)).out.toString()).not.toContain('chosen:');
  });

  it('every field of the JSON is in schemas/report.md', () => {
    const text = readFileSync(join(root, 'schemas/report.md'), 'utf8').split(
      '## `nccl-trace diff --json`',
    )[1]!;
    const found = JSON.parse(told.out.toString()) as RunDiff;
    for (const part of [found, found.before, found.differences[0]!])
      for (const name of Object.keys(part)) expect(text, name).toMatch(new RegExp(`\`${name}(\\[\\])?\``));
  });
});
