// Runs build/nccl-trace-loopback and reads what it leaves behind: the summary and the truth files.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { builtNative } from '../support/jobs/native.js';
import {
  proxyOpsOf,
  readTruth,
  tasksOf,
  totalsOf,
  type ProxyOpTruth,
  type TaskTruth,
  type TotalsTruth,
  type TruthLine,
} from '../support/jobs/truth.js';

export const [program, stubPlugin] = await builtNative('nccl-trace-loopback', 'libnccl-profiler-stub.so');

export interface Counts {
  collectives: number;
  p2ps: number;
  bytes: number;
  verified: number;
  wrong: number;
  callbacks: number;
}

export interface Summary {
  ending: string;
  exitCode: number;
  ranks: number;
  plugin: string | null;
  pluginVersion: number;
  elapsedMs: number;
  counts: Counts;
  perRank: { rank: number; pid: number; ended: string; iterations: number; counts: Counts }[];
}

export interface Exit {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function runRaw(args: string, env: Record<string, string> = {}): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args.split(' ').filter(Boolean), {
      env: { PATH: '/usr/bin', ...env },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}

/** One run with everything it tells. `plugin`: with one that counts, so that there are calls to count. */
export class Run {
  private constructor(
    readonly exit: Exit,
    readonly summary: Summary,
    private readonly folder: string,
  ) {}

  static async of(args: string, { plugin = false }: { plugin?: boolean } = {}): Promise<Run> {
    const folder = mkdtempSync(path.join(tmpdir(), 'loopback-'));
    const env = { NCCL_PROFILER_PLUGIN: plugin ? stubPlugin : 'none' };
    const exit = await runRaw(`${args} --json --quiet --timeout 600 --truth ${folder}`, env);
    const summary = JSON.parse(exit.stdout) as Summary;
    return new Run(exit, summary, folder);
  }

  truth(rank: number): TruthLine[] {
    return readTruth(this.folder, rank);
  }

  proxyOps(rank: number): ProxyOpTruth[] {
    return proxyOpsOf(this.truth(rank));
  }

  tasks(rank: number): TaskTruth[] {
    return tasksOf(this.truth(rank));
  }

  totals(rank: number): TotalsTruth {
    return totalsOf(this.truth(rank));
  }

  remove() {
    rmSync(this.folder, { recursive: true });
  }
}
