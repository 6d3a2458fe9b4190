/** Disks that are full, become full during a merge, have a quota, or are read-only: one error, exit code 4, no file left. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PROGRAM, withoutProgress } from '../support/program.js';

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
function mergeOnto(options: string, jobs: number): { code: number; err: string; left: string[] } {
  const script = `mount -t tmpfs -o ${options} none "$1" || exit 99
    "$2" "$3" merge "$4" -o "$1/run.pftrace" --jobs ${jobs}; code=$?; ls -A "$1"; exit $code`;
  const args = ['-rm', 'sh', '-c', script, 'sh', folder, process.execPath, PROGRAM, sample];
  const run = spawnSync('unshare', args, { encoding: 'utf8' });
  return {
    code: run.status ?? -1,
    err: withoutProgress(run.stderr),
    left: run.stdout.split('\n').filter((line) => line !== ''),
  };
}

describe.skipIf(!canMount)('a trace does not fit', () => {
  it.each(['4k', '16k', '64k', '128k', '192k'])('onto a disk of %s', (size) => {
    for (const jobs of [1, 2]) {
      const { code, err, left } = mergeOnto(`size=${size}`, jobs);
      expect(err).toContain('the disk is full; nothing was written');
      expect({ code, left }).toEqual({ code: 4, left: [] });
    }
  });

  it('onto one with too few files', () => {
    const { code, err, left } = mergeOnto('nr_inodes=3', 1);
    expect(err).toContain('the disk is full');
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });

  it('onto one that is read-only', () => {
    const { code, err, left } = mergeOnto('ro', 1);
    expect(err).toContain('no file can be made here: the file system is read-only; choose another place');
    expect({ code, left }).toEqual({ code: 4, left: [] });
  });
});

/** No file system here has quotas, so the system calls are made to fail as if it had. */
const canInject = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

it.skipIf(!canInject).each([
  ['before the merge', 'mkdir', 'no file can be made here: the disk quota is used up; choose another place'],
  ['at its end', 'rename', 'the disk quota is used up; nothing was written'],
])('a quota that is used up %s', (_, call, sentence) => {
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
