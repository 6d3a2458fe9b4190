/** `nccl-trace prune` on recorded runs: what goes, and above all what stays. */

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { startPuppet } from '../support/jobs/puppet.js';
import { ageRun } from '../support/rank_files/aged_run.js';
import { eachInItsFolder } from '../support/program/temporary_folder.js';

const samples = fileURLToPath(new URL('../../samples/', import.meta.url));
/** The oldest first. */
const RUNS = ['healthy', 'hang', 'straggler', 'dead-node', 'stream-killed', 'graph'];

let folder: string;
eachInItsFolder((made) => {
  folder = made;
  RUNS.forEach((name, i) => {
    cpSync(path.join(samples, name), path.join(folder, 'all', name), { recursive: true });
    age(name, 2 - i / 10);
  });
});

/** The samples were recorded longer ago than this. */
const age = (name: string, days: number): void => {
  ageRun(path.join(folder, 'all', name), days);
};

const prune = (...args: string[]): Promise<TextResult> => runHere(folder, 'prune', 'all', ...args);
const left = (): string[] =>
  RUNS.filter((name) => existsSync(path.join(folder, 'all', name, 'rank00000.bin')));

describe('prune', () => {
  it('removes the runs beyond the newest N, but none that hung or broke off, and says why', async () => {
    const { code, out, err } = await prune('--keep', '1');
    expect(code).toBe(0);
    expect(left()).toEqual(['hang', 'dead-node', 'stream-killed', 'graph']);
    expect(out.match(/^removed .* old\)$/gm)).toHaveLength(2);
    expect(out.match(/^ {2}all\/healthy\/rank0000\d\.bin$/gm)).toHaveLength(8);
    expect(err.match(/: kept, its verdict is (HUNG|BROKEN)$/gm)).toHaveLength(3);
    expect(err).toMatch(/\nleft: 4 runs, [\d.]+ [KM]iB\n$/);
    // The README of the sample is no rank file, and stays.
    expect(readdirSync(path.join(folder, 'all', 'healthy'))).toEqual(['README.md']);
  });

  it('--dry-run says the same and removes nothing', async () => {
    const { out } = await prune('--keep', '1', '--dry-run');
    expect(left()).toEqual(RUNS);
    expect(out.replaceAll('would remove', 'removed')).toBe((await prune('--keep', '1')).out);
  });

  it('removes what hung if asked', async () => {
    const { err } = await prune('--keep', '1', '--even', 'hung,broken');
    expect(left()).toEqual(['graph']);
    expect(err).toMatch(/^left: 1 run, /m);
  });

  it('--healthy-only: no other verdict goes', async () => {
    const { err } = await prune('--keep', '0', '--healthy-only');
    expect(left()).toEqual(['hang', 'straggler', 'dead-node', 'stream-killed']);
    expect(err).toContain('kept, its verdict is SLOW');
  });

  it('by size: the oldest go until the others fit', async () => {
    const bytes = (name: string): number =>
      readdirSync(path.join(folder, 'all', name))
        .filter((file) => file.endsWith('.bin'))
        .reduce((sum, file) => sum + 512 * statSync(path.join(folder, 'all', name, file)).blocks, 0);
    const all = RUNS.reduce((sum, name) => sum + bytes(name), 0);
    await prune('--keep', `${all / 1e3}kB`);
    expect(left()).toEqual(RUNS);
    await prune('--keep', `${(all - bytes('healthy')) / 1e3}kB`);
    expect(left()).toEqual(RUNS.slice(1));
    for (const wrong of ['much', '5XB', '-1', '1.5'])
      expect(await prune('--keep', wrong)).toMatchObject({ code: 2 });
  });

  it('keeps a run that is younger than a day, also a copy made today', async () => {
    age('healthy', 0.9);
    const { err } = await prune('--keep', '0');
    expect(left()).toContain('healthy');
    expect(err).toMatch(/: kept, it is 21\.6 h old/);
    await prune('--keep', '0', '--even', 'young');
    expect(left()).not.toContain('healthy');
  });

  it('keeps a run whose processes are there, whatever is asked', async () => {
    const run = path.join(folder, 'all', 'live');
    const job = startPuppet({
      NCCL_TRACE_DIR: run,
      NCCL_TRACE_RING_DIR: 'none',
      RANK: '0',
    });
    await job.tell('coll 10');
    job.process.kill('SIGSTOP');
    try {
      const { err } = await prune('--keep', '0', '--even', 'young,hung,broken');
      expect(err).toMatch(/: kept, its processes run\n/);
      expect(readdirSync(run)).toEqual(['rank00000.bin']);
      expect(left()).toEqual([]);
    } finally {
      await job.kill();
    }
  });

  it('removes empty folders', async () => {
    cpSync(path.join(samples, 'hosts'), path.join(folder, 'more', 'run'), { recursive: true });
    ageRun(path.join(folder, 'more', 'run'), 2);
    unlinkSync(path.join(folder, 'more', 'run', 'README.md'));
    await runHere(folder, 'prune', 'more', '--keep', '0');
    expect(readdirSync(path.join(folder, 'more'))).toEqual([]);
  });

  it('follows no link: neither to a file, nor to a folder, nor to one in a folder', async () => {
    const target = path.join(folder, 'elsewhere');
    cpSync(path.join(samples, 'healthy'), target, { recursive: true });
    ageRun(target, 2);
    mkdirSync(path.join(folder, 'all', 'linked'));
    symlinkSync(path.join(target, 'rank00000.bin'), path.join(folder, 'all', 'linked', 'rank00000.bin'));
    symlinkSync(target, path.join(folder, 'all', 'run'));
    mkdirSync(path.join(folder, 'all', 'job'));
    symlinkSync(target, path.join(folder, 'all', 'job', 'run'));
    const { out } = await prune('--keep', '0', '--even', 'hung,broken');
    expect(out).not.toMatch(/linked|all\/run|job|elsewhere/);
    expect(left()).toEqual([]);
    expect(readdirSync(target)).toEqual(readdirSync(path.join(samples, 'healthy')));
  });

  it('a run stays if a link lies among its files', async () => {
    const link = path.join(folder, 'all', 'healthy', 'rank00001.bin');
    unlinkSync(link);
    symlinkSync(path.join(samples, 'healthy', 'rank00001.bin'), link);
    expect((await prune('--keep', '0')).err).toContain(': kept, a link lies among its files\n');
    expect(left()).toContain('healthy');
  });

  it('names files that it cannot read and leaves them alone; an empty folder is no error', async () => {
    writeFileSync(path.join(folder, 'all', 'healthy', 'rank00099.bin'), 'no rank file');
    const { err } = await prune('--keep', '100', '-q');
    expect(err).toMatch(/^nccl-trace: .*rank00099\.bin: .*; it is left alone\n$/);
    mkdirSync(path.join(folder, 'empty'));
    expect(await runHere(folder, 'prune', 'empty', '--keep', '0')).toMatchObject({ code: 0 });
    expect(await runHere(folder, 'prune', 'nowhere', '--keep', '0')).toMatchObject({ code: 3 });
    expect(await runHere(folder, 'prune', 'all')).toMatchObject({ code: 2 });
  });
});
