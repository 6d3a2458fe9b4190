/** Disks that are full, become full during a merge, have a quota, or are read-only: one error, exit code 4, no file left. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PROGRAM, withoutProgress } from '../support/program/program.js';

const sample = fileURLToPath(new URL('../../samples/healthy', import.meta.url));
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-full-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** On a disk of its own, which is gone with the process. Returns also what is left on it. */
function commandOnto(
  options: string,
  name: string,
  command: readonly string[],
  option = '-o',
): { code: number; err: string; left: string[] } {
  const script = `mount -t tmpfs -o ${options} none "$1" || exit 99
    disk=$1; shift; "$@" ${option} "$disk/${name}"; code=$?; ls -A "$disk"; exit $code`;
  const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, PROGRAM, ...command];
  const run = spawnSync('unshare', args, { encoding: 'utf8' });
  return {
    code: run.status ?? -1,
    err: withoutProgress(run.stderr),
    left: run.stdout.split('\n').filter((line) => line !== ''),
  };
}

const mergeOnto = (options: string, jobs: number): ReturnType<typeof commandOnto> =>
  commandOnto(options, 'run.pftrace', ['merge', sample, '--jobs', String(jobs)]);

describe.skipIf(!canMount)('a trace does not fit', () => {
  it.each(['4k', '16k', '64k', '128k', '192k'])('onto a disk of %s', (size) => {
    for (const jobs of [1, 2]) {
      const { code, err, left } = mergeOnto(`size=${size}`, jobs);
      expect(err).toContain('the disk is full; nothing was written');
      expect({ code, left }).toEqual({ code: 4, left: [] });
    }
  });

  it('onto one with too few files', () => {
    const { code, err, left } = mergeOnto('nr_inodes=4', 1);
    expect(err).toContain('the disk is full');
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });

  it('onto one that is read-only', () => {
    const { code, err, left } = mergeOnto('ro', 1);
    expect(err).toContain('no file can be made here: the file system is read-only; choose another place');
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });
});

describe.skipIf(!canMount)('tables do not fit', () => {
  it.each([
    ['--csv', '16k'],
    ['--csv', '200k'],
    ['--parquet', '200k'],
  ])('%s onto a disk of %s', (format, size) => {
    const { code, err, left } = commandOnto(`size=${size}`, 'tables', ['export', sample, '-q'], format);
    expect(err.trimEnd()).toBe(`nccl-trace: ${folder}/tables: the disk is full; nothing was written`);
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });
});

describe.skipIf(!canMount)('a folder cannot be made on a read-only disk', () => {
  const HANG_NOW = ['--run', '@2026-11-21T19:02:00', '--linger', '0', '--stacks', 'off'];
  const hang = fileURLToPath(new URL('../../samples/hang', import.meta.url));
  it('by snapshot', () => {
    const { code, err, left } = commandOnto('ro', 'new', ['snapshot', sample]);
    expect(err).toContain('new/rank00000.bin: cannot be written: the file system is read-only; ');
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });

  it('by watch, which goes on without its folder of incidents', () => {
    const { code, err } = commandOnto('ro', 'new', ['watch', hang, ...HANG_NOW]);
    expect(err).toContain('new: the file system is read-only; ');
    expect(code).toBe(0);
  });
});

describe.skipIf(!canMount)('the output of a step does not fit', () => {
  let made: string;
  const step = (name: string, ...args: string[]): number =>
    spawnSync(process.execPath, [PROGRAM, ...args, '-qo', path.join(made, name)]).status ?? -1;
  beforeAll(() => {
    made = mkdtempSync(path.join(tmpdir(), 'nccl-trace-full-'));
    expect(step('a.scan', 'scan', sample)).toBe(0);
    expect(step('a.study', 'study', path.join(made, 'a.scan'))).toBe(0);
    expect(step('a.part', 'convert', '--study', path.join(made, 'a.study'), sample)).toBe(0);
  });
  afterAll(() => {
    rmSync(made, { recursive: true });
  });

  it.each([
    ['scan', 'b.scan', []],
    ['study', 'b.study', ['a.scan']],
    ['convert', 'b.part', ['a.study']],
    ['join', 'b.pftrace', ['a.study', 'a.part']],
    ['report', 'b.html', ['a.study']],
  ] as const)('%s', (command, name, inputs) => {
    const files = inputs.map((input) => path.join(made, input));
    const args =
      command === 'convert' ? ['--study', ...files, sample] : [...files, ...(files.length ? [] : [sample])];
    const { code, err, left } = commandOnto('size=4k', name, [command, ...args]);
    expect(err).toMatch(/the disk is full; no(thing| report) was written/);
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });
});

/** No file system here has quotas, so the system calls are made to fail as if it had. */
const canInject = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

it.skipIf(!canInject).each(['mkdir', 'rename'])('a quota that is used up at the first %s', (call) => {
  const sentence = 'no file can be made here: the disk quota is used up; choose another place';
  const inject = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:error=EDQUOT`];
  const args = [process.execPath, PROGRAM, 'merge', sample, '-o', path.join(folder, 'run.pftrace')];
  const { status, stderr } = spawnSync('strace', [...inject, ...args], { encoding: 'utf8' });
  expect(withoutProgress(stderr).trimEnd()).toMatch(new RegExp(`^nccl-trace: [^ ]*: ${sentence}$`));
  expect(status).toBe(4);
  expect(readdirSync(folder)).toEqual([]);
});

it.skipIf(!canMount)('a trace is written where there is room', () => {
  const { code, left } = mergeOnto('size=4m', 2);
  expect({ code, left }).toEqual({ code: 0, left: ['run.pftrace'] });
});
