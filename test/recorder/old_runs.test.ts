// NCCL_TRACE_KEEP: which runs are gone once a job has begun, and above all which are not. The runs are recorded ones.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { runHere } from '../support/program/command_line.js';
import { startPuppet, type Puppet } from '../support/jobs/puppet.js';
import { canChangeTime, IN_OTHER_TIME, type Wrapper } from '../support/program/other_time.js';
import { ageRun } from '../support/rank_files/aged_run.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const samples = fileURLToPath(new URL('../../samples/', import.meta.url));
/** The oldest first. hang, dead-node and stream-killed were killed, the others were closed in order. */
const RUNS = ['healthy', 'hang', 'straggler', 'dead-node', 'stream-killed', 'graph', 'slow-gpu'];
const KILLED = ['hang', 'dead-node', 'stream-killed'];

let base: string;
/** Of all runs, in `base`. */
let folder: string;
let remove: () => void;
const jobs: Puppet[] = [];
const inRun = (name: string, ...more: string[]): string => path.join(folder, name, ...more);

beforeEach(() => {
  ({ folder: base, remove } = temporaryFolder());
  folder = path.join(base, 'runs');
  RUNS.forEach((name, i) => {
    cpSync(path.join(samples, name), inRun(name), { recursive: true });
    unlinkSync(inRun(name, 'README.md'));
    age(name, 9 - i);
  });
});
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
  remove();
});

const age = (name: string, days: number): void => {
  ageRun(inRun(name), days);
};

/** A job that records into the folder of all runs. */
async function begin(env: Record<string, string>, wrapper: Wrapper = []): Promise<Puppet> {
  const settings = {
    NCCL_TRACE_DIR: folder,
    NCCL_TRACE_RING_DIR: 'none',
    NCCL_TRACE_RUN_ID: 'new',
    RANK: '0',
    ...env,
  };
  const job = startPuppet(settings, wrapper);
  jobs.push(job);
  await job.tell('coll 10');
  return job;
}

const left = (): string[] => RUNS.filter((name) => existsSync(inRun(name)));

/** The oldest goes first, so when `last` is gone all is decided. */
async function gone(last: string): Promise<void> {
  while (existsSync(inRun(last))) await sleep(20);
}

describe('NCCL_TRACE_KEEP', () => {
  it('keeps the newest runs, the new one included, and each one that was not closed in order', async () => {
    await begin({ NCCL_TRACE_KEEP: '2' });
    await gone('graph');
    expect(left()).toEqual([...KILLED, 'slow-gpu']);
    expect(readdirSync(inRun('new'))).toEqual(['rank00000.bin']);
    const { options } = openRankFile(inRun('new', 'rank00000.bin')).header;
    expect(options).toContain(' NCCL_TRACE_KEEP=2');
  });

  it('by size: the oldest go until the others fit', async () => {
    const job = await begin({});
    const bytes = [...RUNS, 'new'].reduce((sum, name) => sum + sizeOf(name), 0);
    await job.kill();
    rmSync(inRun('new'), { recursive: true });
    const without = bytes - sizeOf('healthy') - sizeOf('straggler');
    await begin({ NCCL_TRACE_KEEP: `${without / 1e3}kB` });
    await gone('straggler');
    expect(left()).toEqual(RUNS.filter((name) => name !== 'healthy' && name !== 'straggler'));
  });

  it('NCCL_TRACE_PRUNE_EVEN=unclosed removes killed runs, too, if they are a day old', async () => {
    age('hang', 0.9);
    await begin({ NCCL_TRACE_KEEP: '1', NCCL_TRACE_PRUNE_EVEN: 'unclosed' });
    await gone('slow-gpu');
    expect(left()).toEqual(['hang']);
  });

  it('keeps what was written less than a day ago, unless that is asked for', async () => {
    RUNS.slice(0, 5).forEach((name, i) => {
      age(name, 0.9 - i / 100);
    });
    await begin({ NCCL_TRACE_KEEP: '1' });
    await gone('slow-gpu');
    expect(left()).toEqual(RUNS.slice(0, 5));
    await begin({
      NCCL_TRACE_KEEP: '1',
      NCCL_TRACE_PRUNE_EVEN: 'young,unclosed',
      NCCL_TRACE_RUN_ID: 'newer',
    });
    await gone('stream-killed');
    expect(left()).toEqual([]);
  });

  it('never removes a run whose processes are there', async () => {
    const even = { NCCL_TRACE_KEEP: '1', NCCL_TRACE_PRUNE_EVEN: 'young,unclosed' };
    const other = await begin({ NCCL_TRACE_RUN_ID: 'other' });
    other.process.kill('SIGSTOP');
    age('other', 30);
    await begin(even);
    await gone('slow-gpu');
    expect(readdirSync(inRun('other'))).toEqual(['rank00000.bin']);
    await other.kill();
    await begin({ ...even, NCCL_TRACE_RUN_ID: 'newer' });
    await gone('other');
  });

  it.skipIf(!canChangeTime)(
    'nor one whose processes have another start time here (skipped unless root may make a time namespace)',
    async () => {
      await begin({ NCCL_TRACE_RUN_ID: 'other' }, IN_OTHER_TIME);
      process.kill(openRankFile(inRun('other', 'rank00000.bin')).header.process.pid, 'SIGSTOP');
      age('other', 30);
      await begin({ NCCL_TRACE_KEEP: '1', NCCL_TRACE_PRUNE_EVEN: 'young,unclosed' });
      await gone('slow-gpu');
      expect(readdirSync(inRun('other'))).toEqual(['rank00000.bin']);
    },
  );

  it('leaves folders alone that hold anything else: a file of another name, a link, a folder, a copy', async () => {
    writeFileSync(inRun('healthy', 'notes.txt'), 'mine');
    symlinkSync(inRun('graph', 'rank00001.bin'), inRun('straggler', 'rank00009.bin'));
    mkdirSync(inRun('hang', 'rank00009.bin'));
    writeFileSync(
      inRun('dead-node', 'rank00009.bin'),
      'precious, and long enough for a header'.padEnd(9_000),
    );
    const copied = await runHere(base, 'snapshot', path.join(samples, 'graph'), '-o', inRun('copied'));
    expect(copied.code).toBe(0);
    age('copied', 30);
    // Another name for a run that is elsewhere.
    cpSync(inRun('graph'), path.join(base, 'elsewhere'), { recursive: true });
    symlinkSync(path.join(base, 'elsewhere'), inRun('linked'));
    const before = RUNS.map((name) => [name, readdirSync(inRun(name))]);
    RUNS.forEach((name, i) => {
      age(name, 20 - i);
    });
    await begin({ NCCL_TRACE_KEEP: '1', NCCL_TRACE_PRUNE_EVEN: 'unclosed' });
    await gone('slow-gpu');
    expect(left().map((name) => [name, readdirSync(inRun(name))])).toEqual(before.slice(0, 4));
    expect(existsSync(inRun('copied', 'rank00001.bin'))).toBe(true);
    expect(readdirSync(inRun('linked')).sort()).toEqual(['rank00000.bin', 'rank00001.bin']);
  });

  it('one process of a node does it, where the disk is the node’s own', async () => {
    await begin({ NCCL_TRACE_KEEP: '1', RANK: '1', LOCAL_RANK: '1' });
    await begin({ NCCL_TRACE_KEEP: '2', RANK: '8', LOCAL_RANK: '0' });
    await gone('graph');
    expect(left()).toContain('slow-gpu');
  });

  it('removes what an earlier remover left under another name when it was killed', async () => {
    cpSync(inRun('healthy', 'rank00000.bin'), inRun('healthy', '.nccl-trace-old-8101000000000000-1'));
    age('healthy', 9);
    await begin({ NCCL_TRACE_KEEP: '7' });
    await gone('healthy');
    expect(left()).toEqual(RUNS.slice(1));
  });
});

const sizeOf = (name: string): number =>
  readdirSync(inRun(name)).reduce((sum, file) => sum + 512 * statSync(inRun(name, file)).blocks, 0);
