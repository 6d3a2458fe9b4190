/**
 * A real Slurm of two nodes on this machine (scripts/slurm-here.sh). Its paths are those of the documents: /shared is on all nodes, /local on
 * each node a disk of its own.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtNative, PROJECT } from '../support/jobs/native.js';

const SCRIPT = path.join(PROJECT, 'scripts/slurm-here.sh');
const [loopback] = await builtNative('nccl-trace-loopback', 'libnccl-profiler-trace.so');

/** What a command printed, on both streams. */
export interface Printed {
  readonly code: number | null;
  readonly output: string;
}

export class Slurm {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-slurm-'));
  private readonly environment: NodeJS.ProcessEnv;

  /** Scripts by their place below /shared. */
  constructor(scripts: Readonly<Record<string, string>>, settings: Readonly<Record<string, string>>) {
    for (const [to, lines] of Object.entries(scripts)) {
      mkdirSync(path.dirname(this.shared(to)), { recursive: true });
      writeFileSync(this.shared(to), lines, { mode: 0o755 });
    }
    mkdirSync(this.shared('job'), { recursive: true });
    mkdirSync(this.shared('bin'), { recursive: true });
    copyFileSync(path.join(PROJECT, 'test/slurm/train.py'), this.shared('job/train.py'));
    copyFileSync(loopback, this.shared('job/loopback'));
    // Documents say "python", which not every system has.
    symlinkSync(execFileSync('which', ['python3'], { encoding: 'utf8' }).trim(), this.shared('bin/python'));
    this.environment = {
      ...process.env,
      PATH: `/shared/tools/bin:/shared/bin:${process.env.PATH}`,
      USER: 'root',
      // The package is here: npm need not look for a newer npm, or wait where there is no network.
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
      LOOPBACK: '/shared/job/loopback',
      NCCL_TRACE_RING_MB: '1',
    };
    const port = 20_000 + (process.pid % 10_000);
    try {
      execFileSync(SCRIPT, ['start', this.folder, String(port)], { env: { ...process.env, ...settings } });
    } catch (error) {
      rmSync(this.folder, { recursive: true });
      throw error;
    }
  }

  stop(): void {
    execFileSync(SCRIPT, ['stop', this.folder]);
    rmSync(this.folder, { recursive: true });
  }

  /** Here, what is /shared/… on all nodes. */
  shared(...names: string[]): string {
    return path.join(this.folder, 'shared', ...names);
  }

  /** Here, what is /local/… on a node. */
  local(node: 'n1' | 'n2', ...names: string[]): string {
    return path.join(this.folder, 'local', node, ...names);
  }

  /** Runs lines on the login node, in the job's folder. */
  onLogin(lines: string, environment: Readonly<Record<string, string>> = {}): Printed {
    const { status, stdout } = spawnSync(
      SCRIPT,
      ['on', this.folder, 'login', 'bash', '-c', `exec 2>&1; set -eu; cd /shared/job; ${lines}`],
      { env: { ...this.environment, ...environment }, encoding: 'utf8' },
    );
    return { code: status, output: stdout };
  }

  /** The number of the job that these lines start with sbatch. */
  submitted(lines: string, environment: Readonly<Record<string, string>> = {}): string {
    const { output } = this.onLogin(lines, { SBATCH_OUTPUT: '/shared/job/%j.log', ...environment });
    const job = /^Submitted batch job (\d+)$/m.exec(output)?.[1];
    if (job === undefined) throw new Error(output);
    return job;
  }

  /** Waits until the job has ended, its epilog, too. Returns its log. */
  ended(job: string): string {
    until(() => /JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT)/.test(this.about(job)));
    until(() => !this.onLogin('sinfo --noheader --Node --format=%T').output.includes('completing'));
    return this.log(job);
  }

  log(job: string): string {
    return readFileSync(this.shared(`job/${job}.log`), 'utf8');
  }

  about(job: string): string {
    return this.onLogin(`scontrol show job ${job}`).output;
  }
}

/** Waits until it is so, for ten minutes at most: the machine may be busy, and nothing else ends a test that waits without a pause. */
export function until(isSo: () => boolean): void {
  for (const end = Date.now() + 600_000; !isSo();) {
    if (Date.now() > end) throw new Error(`not so after ten minutes: ${String(isSo)}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
}
