/** The recorder beside other users: a folder that they can change, a name that they took, and a limit of processes. */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FILE_HEADER, Kind } from '../../src/rankfile/format/constants.js';
import { findRankFiles, openRankFile } from '../../src/rankfile/index.js';
import { chooseRun } from '../../src/runs/run.js';
import { scanFile } from '../../src/scan/scan.js';
import { builtNative } from '../support/jobs/native.js';
import { startPuppet, type Puppet } from '../support/jobs/puppet.js';
import { ALICE, asUser, become, BOB, give, NOT_TWO_USERS, twoHomes } from '../support/program/two_users.js';

const [PLUGIN, PUPPET] = await builtNative('libnccl-profiler-trace.so', 'puppet');
let folder: string;
let remove: () => void;
const jobs: Puppet[] = [];
beforeEach(() => ({ folder, remove } = twoHomes()));
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
  remove();
});

const at = (...names: string[]): string => path.join(folder, ...names);
const colls = (file: string): number =>
  openRankFile(file).rings.reduce(
    (sum, { records }) => sum + records.kind.filter((kind) => kind === Kind.StartColl).length,
    0,
  );

/** A whole job of ALICE's, and what it said. */
const job = (directory: string, rings: string, ...wrapper: string[]): string =>
  jobBy([...become(ALICE), ...wrapper], directory, rings);

function jobBy([command, ...wrapper]: readonly string[], directory: string, rings: string): string {
  const args = [...wrapper, PUPPET, PLUGIN];
  const env = {
    PATH: process.env.PATH,
    RANK: '0',
    NCCL_TRACE_DIR: directory,
    NCCL_TRACE_RING_DIR: rings,
    NCCL_TRACE_RING_MB: '1',
  };
  const { status, stderr } = spawnSync(command!, args, { env, input: 'coll 10\n', encoding: 'utf8' });
  expect(status).toBe(0);
  return stderr;
}

describe.skipIf(NOT_TWO_USERS !== null)(`two users (${NOT_TWO_USERS ?? 'here'})`, () => {
  it.each<[string, number, number, string]>([
    ['belongs to another one', BOB, 0o777, `the folder belongs to user ${BOB}`],
    ['all can change', ALICE, 0o2777, 'other users can change the folder (mode 2777)'],
    ['is its own', ALICE, 0o755, ''],
    ['is sticky, of root', 0, 0o1777, ''],
  ])('the recorder says that its folder %s', (_, owner, mode, said) => {
    mkdirSync(at('run'));
    chownSync(at('run'), owner, owner);
    chmodSync(at('run'), mode);
    const stderr = job(at('run'), 'none');
    if (said === '') expect(stderr).toBe('');
    else
      expect(stderr).toMatch(new RegExp(`^nccl-trace: recording to .*; ${said.replace(/[()]/g, '\\$&')}\n$`));
    expect(statSync(at('run', 'rank00000.bin'))).toMatchObject({ uid: ALICE, mode: 0o100600 });
    expect(colls(at('run', 'rank00000.bin'))).toBe(10);
  });

  it('the recorder says that its folder is a link of another user', () => {
    mkdirSync(at('alice', 'run'));
    chownSync(at('alice', 'run'), ALICE, ALICE);
    spawnSync('ln', ['-s', at('alice', 'run'), at('link')]);
    spawnSync('chown', ['-h', `${BOB}:${BOB}`, at('link')]);
    expect(job(at('link'), 'none')).toContain(`the folder is a link of user ${BOB}`);
  });

  it('rings are saved under another name if somebody has put a link where they go', async () => {
    chmodSync(at('alice'), 0o777);
    const start = (rank: string): Puppet => {
      const env = {
        RANK: rank,
        NCCL_TRACE_DIR: at('alice'),
        NCCL_TRACE_RING_DIR: '/dev/shm',
      };
      const one = startPuppet(env, become(ALICE));
      jobs.push(one);
      return one;
    };
    const victim = start('1');
    await victim.tell('coll 10');
    const file = at('alice', 'rank00001.bin');
    const { pid } = openRankFile(file).header.process;
    writeFileSync(at('bob', 'mine'), 'of Bob');
    symlinkSync(at('bob', 'mine'), `${file}.rings`);
    const neighbour = start('0');
    await neighbour.tell('coll 1');
    await victim.tell('coll 90');
    const { ringPath } = openRankFile(file).header;
    await victim.kill();
    const saved = at('alice', `rank00001.${pid}.bin.rings`);
    while (existsSync(ringPath) || !existsSync(saved))
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readFileSync(at('bob', 'mine'), 'utf8')).toBe('of Bob');
    // Readers use them, and say so.
    expect(colls(file)).toBe(100);
    expect(
      openRankFile(file)
        .problems.map(({ what }) => what)
        .join(),
    ).toContain(`rank00001.${pid}.bin.rings`);
    const { members, problems } = chooseRun(findRankFiles([at('alice')]).files.map((one) => scanFile(one)));
    expect(members.map(({ scan }) => scan.path)).toEqual([at('alice', 'rank00000.bin'), file]);
    expect(problems).toEqual([`${saved} is another copy of ${file} (same process) and left out`]);
  });

  it('root asks no recorder by way of a file of another user, and that user gets no copy', async () => {
    const env = { RANK: '0', NCCL_TRACE_DIR: at('alice'), NCCL_TRACE_RING_DIR: 'none' };
    const one = startPuppet(env, become(ALICE));
    jobs.push(one);
    await one.tell('coll 10');
    const forged = at('bob', 'rank00000.bin');
    copyFileSync(at('alice', 'rank00000.bin'), forged);
    give(BOB, forged);
    const before = readFileSync(forged);
    expect(asUser(0, folder, 'control', forged, '--events', 'none')).toMatchObject({
      code: 3,
      err: expect.stringContaining('it names a process that is not of this job; left out') as string,
    });
    expect(readFileSync(forged).equals(before)).toBe(true);
    expect(asUser(BOB, at('bob'), 'control', at('alice'), '--events', 'none').code).toBe(3);
    expect(asUser(BOB, at('bob'), 'snapshot', at('alice'), '-o', at('bob', 'copy')).code).toBe(3);
    expect(existsSync(at('bob', 'copy', 'rank00000.bin'))).toBe(false);
    expect(asUser(ALICE, folder, 'control', at('alice'), '--events', 'none')).toMatchObject({ code: 0 });
  });

  describe('at the limit of processes', () => {
    const limited = (threads: number): string[] => ['prlimit', `--nproc=${threads}:${threads}`, '--'];

    it.each(['none', '/dev/shm'])(
      'a job records on without a thread of the recorder, rings in %s',
      (rings) => {
        const stderr = job(at('alice'), rings, ...limited(1));
        expect(stderr).toMatch(
          /^nccl-trace: the limit of processes \(ulimit -u, or pids.max of the control group\) leaves no room for a thread/,
        );
        const file = openRankFile(at('alice', 'rank00000.bin'));
        expect(file.header.life).toBe('closed');
        expect(colls(at('alice', 'rank00000.bin'))).toBe(10);
      },
    );

    it('the last thread is left to the job, and with room for both there is one', () => {
      expect(job(at('alice'), 'none', ...limited(20))).toContain('leaves no room for a thread');
      expect(job(at('alice'), 'none', ...limited(1000))).toBe('');
    });

    it('the limit of a control group, or of one above it', ({ skip }) => {
      const root = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'].find((mount) =>
        existsSync(`${mount}/cgroup.procs`),
      );
      const above = path.join(root ?? '', `nccl-trace-test-${process.pid}`);
      const group = path.join(above, 'job');
      try {
        mkdirSync(group, { recursive: true });
        writeFileSync(path.join(above, 'pids.max'), '20');
      } catch {
        skip('no control group for processes can be made here');
      }
      try {
        const inGroup = ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'];
        expect(jobBy(inGroup, at('one'), 'none')).toContain('leaves no room for a thread');
        writeFileSync(path.join(above, 'pids.max'), '1000');
        expect(jobBy(inGroup, at('two'), 'none')).toBe('');
      } finally {
        rmdirSync(group);
        rmdirSync(above);
      }
    });

    it('a killed one leaves its records', async () => {
      const env = {
        RANK: '0',
        NCCL_TRACE_DIR: at('alice'),
        NCCL_TRACE_RING_DIR: 'none',
      };
      const one = startPuppet(env, [...become(ALICE), ...limited(1)]);
      await one.tell('coll 10');
      const header = readFileSync(at('alice', 'rank00000.bin')).subarray(0, FILE_HEADER.rank);
      expect(header.subarray(0, 4).toString('latin1')).not.toBe('\0\0\0\0');
      await one.kill();
      expect(colls(at('alice', 'rank00000.bin'))).toBe(10);
    });
  });
});
