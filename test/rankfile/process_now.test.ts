/** Whether the process that wrote a file runs, if its start time looks different from here, and if a file names a process of somebody else. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isWrittenBy, openRankFileHeader, processNow } from '../../src/rankfile/index.js';
import { stacksOf } from '../../src/live/stacks.js';
import { startPuppet, type Puppet } from '../support/jobs/puppet.js';
import { canChangeTime, IN_OTHER_TIME, type Wrapper } from '../support/program/other_time.js';
import { ALICE, become, NOT_TWO_USERS } from '../support/program/two_users.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

let folder: string;
let remove: () => void;
const jobs: Puppet[] = [];
let helper: ChildProcess | undefined;
beforeEach(() => {
  ({ folder, remove } = temporaryFolder());
});
afterEach(async () => {
  helper?.kill('SIGKILL');
  helper = undefined;
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
  remove();
});

async function begin(rings: string, wrapper: Wrapper = []) {
  const directory = path.join(folder, 'run');
  const job = startPuppet({ NCCL_TRACE_DIR: directory, NCCL_TRACE_RING_DIR: rings, RANK: '0' }, wrapper);
  jobs.push(job);
  await job.tell('coll 10');
  const file = path.join(directory, 'rank00000.bin');
  return { job, file, written: { path: file, header: openRankFileHeader(file) } };
}

describe.skipIf(!canChangeTime)('in another time namespace (skipped unless root may make one)', () => {
  it.each([
    ['the file', 'none'],
    ['shared memory', '/dev/shm'],
  ])('a process runs, is stopped and is gone, with its rings in %s', async (_, rings) => {
    const { job, written } = await begin(rings, IN_OTHER_TIME);
    const { pid, startTime } = written.header.process;
    expect(startTime).toBeGreaterThan(86_400n * 100n);
    expect(processNow(written)).toBe('runs');
    process.kill(pid, 'SIGSTOP');
    while (processNow(written) === 'runs') await new Promise((resolve) => setTimeout(resolve, 10));
    expect(processNow(written)).toBe('stopped');
    await job.kill();
    while (existsSync(`/proc/${pid}`)) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(processNow(written)).toBe('gone');
  });

  it('no recorder takes the rings of a process that runs there for rings that were left', async () => {
    const { job, written, file } = await begin('/dev/shm', IN_OTHER_TIME);
    const { ringPath } = written.header;
    const neighbour = startPuppet({
      ...{ NCCL_TRACE_DIR: path.join(folder, 'run'), NCCL_TRACE_RING_DIR: '/dev/shm', RANK: '1' },
    });
    jobs.push(neighbour);
    await neighbour.tell('coll 10');
    await new Promise((resolve) => setTimeout(resolve, 3000)); // it looks once a second
    expect(existsSync(ringPath)).toBe(true);
    expect(existsSync(`${file}.rings`)).toBe(false);
    await job.kill();
    while (existsSync(ringPath)) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(existsSync(`${file}.rings`)).toBe(true);
  });
});

/** As a later process with its pid. */
const withStart = <T extends { process: object }>(header: T, startTime: bigint): T => ({
  ...header,
  process: { ...header.process, startTime },
});

it('of a process with its pid and another start, its files tell whether it is the same', async () => {
  const { written } = await begin('none');
  const header = withStart(written.header, 1n);
  expect(processNow({ ...written, header })).toBe('runs');
  const copy = path.join(folder, 'copy.bin');
  copyFileSync(written.path, copy);
  expect(processNow({ path: copy, header })).toBe('gone');
});

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

it.skipIf(!has('strace'))(
  'a process that strace follows runs (skipped where there is no strace)',
  async () => {
    const { written } = await begin('none', ['strace', '-f', '-o', '/dev/null']);
    const seen = new Set<string>();
    for (let i = 0; i < 3000; i++) {
      seen.add(processNow(written));
      if (i % 100 === 0) await jobs[0]!.tell('coll 1');
    }
    expect([...seen]).toEqual(['runs']);
  },
);

it.skipIf(!has('gdb'))('a process that gdb holds is stopped (skipped where there is no gdb)', async () => {
  const { written } = await begin('none');
  const args = ['-nx', '-batch', '-p', String(written.header.process.pid), '-ex', 'shell sleep 100'];
  helper = spawn('gdb', args, { stdio: 'ignore', detached: true });
  while (processNow(written) === 'runs') await new Promise((resolve) => setTimeout(resolve, 20));
  expect(processNow(written)).toBe('stopped');
  process.kill(-helper.pid!, 'SIGKILL');
});

/** Groups that root may make: of cgroup v2, alone or beside v1, and of v1. Name, file, and what freezes and thaws. */
const FREEZERS = [
  ['cgroup v2', '/sys/fs/cgroup', 'cgroup.freeze', '1', '0'],
  ['cgroup v2 beside v1', '/sys/fs/cgroup/unified', 'cgroup.freeze', '1', '0'],
  ['cgroup v1', '/sys/fs/cgroup/freezer', 'freezer.state', 'FROZEN', 'THAWED'],
] as const;

describe.each(FREEZERS)('%s (skipped unless root has it)', (_, mount, file, frozen, thawed) => {
  const group = path.join(mount, `nccl-trace-test-${process.pid}`);
  const isThere = process.getuid!() === 0 && existsSync(path.join(mount, 'cgroup.procs'));
  afterEach(async () => {
    if (!existsSync(group)) return;
    writeFileSync(path.join(group, file), thawed);
    await Promise.all(jobs.splice(0).map((job) => job.kill()));
    rmdirSync(group);
  });

  it.skipIf(!isThere)(
    'a process whose group is frozen is stopped, and no debugger is let at it',
    async () => {
      const { written } = await begin('none');
      mkdirSync(group);
      writeFileSync(path.join(group, 'cgroup.procs'), String(written.header.process.pid));
      expect(processNow(written)).toBe('runs');
      writeFileSync(path.join(group, file), frozen);
      while (processNow(written) === 'runs') await new Promise((resolve) => setTimeout(resolve, 20));
      expect(processNow(written)).toBe('stopped');
      expect(await stacksOf(written, 'gdb')).toEqual({ by: 'gdb', text: '', why: 'its cgroup is frozen' });
      writeFileSync(path.join(group, file), thawed);
      while (processNow(written) === 'stopped') await new Promise((resolve) => setTimeout(resolve, 20));
      expect(processNow(written)).toBe('runs');
    },
  );
});

it('a process that has the file open, as one with rings in memory, is its writer', async () => {
  const { written, job } = await begin('none');
  await job.kill();
  helper = spawn('sh', ['-c', 'exec 3<"$0"; echo 1; exec sleep 100', written.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => helper!.stdout!.once('data', resolve));
  expect(isWrittenBy(helper.pid!, written)).toBe(true);
  expect(isWrittenBy(process.pid, written)).toBe(false);
});

describe.skipIf(NOT_TWO_USERS !== null)(`of several users (${NOT_TWO_USERS ?? 'here'})`, () => {
  it('a process of another user is not the writer, whatever it has open', async () => {
    chmodSync(folder, 0o755);
    mkdirSync(path.join(folder, 'run'));
    chownSync(path.join(folder, 'run'), ALICE, ALICE);
    const { written, job } = await begin('none', become(ALICE));
    expect(statSync(written.path).uid).toBe(ALICE);
    expect(isWrittenBy(job.process.pid!, written)).toBe(true);
    helper = spawn('sh', ['-c', 'exec 3<"$0"; echo 1; exec sleep 100', written.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => helper!.stdout!.once('data', resolve));
    expect(isWrittenBy(helper.pid!, written)).toBe(false);
    expect(readdirSync(path.dirname(written.path))).toEqual(['rank00000.bin']);
  });
});
