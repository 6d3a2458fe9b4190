// One command of ours as a process of its own: what it used, all its threads together, and how long it took.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../bin/nccl-trace.js', import.meta.url));
const hook = new URL('merge/usage.mjs', import.meta.url).href;

/** `cpu` and `wall` in s, `mebibytes` at the peak. Throws if the command fails. */
export function command(args, env = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'nccl-trace-usage-'));
  try {
    const usage = path.join(folder, 'usage.json');
    const start = performance.now();
    execFileSync(process.execPath, ['--import', hook, program, ...args], {
      env: { ...process.env, ...env, BENCH_USAGE: usage },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const wall = (performance.now() - start) / 1e3;
    return { ...JSON.parse(readFileSync(usage, 'utf8')), wall };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
