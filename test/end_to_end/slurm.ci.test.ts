/**
 * The two scripts of docs/slurm/ on one machine: `srun` runs its command here and `runuser` runs it as we are. The job is the
 * loopback with the real plugin.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openRankFile } from '../../src/rankfile/index.js';
import { builtNative, PROJECT } from '../support/jobs/native.js';
import { PROGRAM } from '../support/program/program.js';

const [plugin, loopback] = await builtNative('libnccl-profiler-trace.so', 'nccl-trace-loopback');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-slurm-'));
  mkdirSync(path.join(folder, 'bin'));
  symlinkSync(plugin, path.join(folder, 'libnccl-profiler-trace.so'));
  command('nccl-trace', `exec "${process.execPath}" "${PROGRAM}" "$@"`);
  command('srun', 'while [ "${1#-}" != "$1" ]; do shift; done; SLURM_NODEID=0 exec "$@"');
  command('runuser', 'shift 3; exec "$@"');
});
let groups: number[] = [];
afterEach(() => {
  for (const group of groups) endGroup(group);
  groups = [];
  rmSync(folder, { recursive: true });
});

function command(name: string, script: string): void {
  writeFileSync(path.join(folder, 'bin', name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
}

function start(script: string, args: readonly string[], restarts: Record<string, string>) {
  const bin = path.join(folder, 'bin');
  const child = spawn('bash', [path.join(PROJECT, 'docs/slurm', script), ...args], {
    env: {
      PATH: `${bin}:${process.env.PATH ?? ''}`,
      BASH_ENV: script === 'epilog.sh' ? firstInPath(bin) : '',
      USER: 'user',
      SLURM_JOB_USER: 'user',
      SLURM_JOB_ID: '4711',
      SLURM_NNODES: '1',
      TOOLS: folder,
      TRACES: path.join(folder, 'traces'),
      FROM: path.join(folder, 'local'),
      NCCL_TRACE_DIR: path.join(folder, 'local'),
      NCCL_TRACE_RING_MB: '1',
      ...restarts,
    },
    stdio: 'ignore',
    detached: true,
  });
  groups.push(child.pid!);
  return child;
}

/** Slurm ends the steps of a job whose script has ended. */
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // all have ended
  }
}

/** The epilog puts the system's folders first, as it must; here our `runuser` comes before. */
function firstInPath(bin: string): string {
  const file = path.join(folder, 'functions');
  writeFileSync(
    file,
    `runuser() { "${bin}/runuser" "$@"; }; timeout() { shift; "$@"; }; export -f runuser timeout\n`,
  );
  return file;
}

async function exitCode(child: ReturnType<typeof start>): Promise<number | null> {
  await once(child, 'exit');
  return child.exitCode;
}

const traces = (...names: string[]): string => path.join(folder, 'traces', ...names);
const lives = (...names: string[]): string[] =>
  readdirSync(traces(...names))
    .filter((name) => name.endsWith('.bin'))
    .sort()
    .map((name) => openRankFile(traces(...names, name)).header.life);

async function untilRecording(run: string): Promise<void> {
  for (;;) {
    const local = path.join(folder, 'local', run);
    if (existsSync(local) && readdirSync(local).length >= 2) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

it('the batch script copies the files of a job that has ended, by its number of starts', async () => {
  const job = [loopback, '--ranks', '2', '--quiet'];
  expect(await exitCode(start('train.sbatch', job, {}))).toBe(0);
  expect(await exitCode(start('train.sbatch', job, { SLURM_RESTART_COUNT: '1' }))).toBe(0);
  expect(readdirSync(traces()).sort()).toEqual(['4711', '4711.1']);
  expect(lives('4711', 'at-exit', 'node0')).toEqual(['closed', 'closed']);
  expect(lives('4711.1', 'at-exit', 'node0')).toEqual(['closed', 'closed']);
});

it('it copies a hanging job before its time is up; the epilog copies again, once', async () => {
  const hang = [loopback, '--ranks', '2', '--skip-rank', '1', '--skip-at', '1', '--quiet'];
  const batch = start('train.sbatch', hang, {});
  const ended = exitCode(batch);
  await untilRecording('4711');
  batch.kill('SIGTERM');
  expect(await ended).toBe(143);
  expect(lives('4711', 'at-exit', 'node0')).toEqual(['recording', 'recording']);

  expect(await exitCode(start('epilog.sh', [], {}))).toBe(0);
  const [host] = readdirSync(traces('4711', 'epilog'));
  expect(lives('4711', 'epilog', host!)).toHaveLength(2);
  expect(await exitCode(start('epilog.sh', [], {}))).toBe(0);
  expect(readdirSync(traces('4711', 'epilog'))).toEqual([host]);
});
