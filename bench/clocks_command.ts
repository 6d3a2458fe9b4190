/**
 * What `nccl-trace clocks` costs for a large job: one rank per host, a ring whose senders wait for room, each host with a clock of its own. The
 * files hold 60 s with 200 messages per link. Beside it the same files without alignment, so what is left is the scan.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seeded } from '../test/support/simulated_links.js';
import { writeManyFiles } from './merge/many_files.js';

interface Usage {
  readonly cpu: number;
  readonly mebibytes: number;
}

const COLLECTIVES = 34;
const APART_NS = 60e9 / COLLECTIVES;

/** `root`: of the repository, built. */
export function clocksCommand(hosts: number, root: string, print: (line: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-bench-'));
  try {
    const random = seeded(5);
    const waitingNs = (): number => 10_000 - 5000 * Math.log(1 - random());
    const shape = { ranksPerHost: 1, apartNs: APART_NS, stepNs: 200_000, waitingNs };
    writeManyFiles(folder, hosts, COLLECTIVES, shape);
    const usage = join(folder, 'usage.json');
    const hook = pathToFileURL(join(root, 'bench/merge/usage.mjs')).href;
    for (const options of [[], ['--clock', 'realtime']]) {
      const command = ['clocks', folder, ...options];
      execFileSync(process.execPath, ['--import', hook, join(root, 'bin/nccl-trace.js'), ...command], {
        env: { ...process.env, BENCH_USAGE: usage },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const { cpu, mebibytes } = JSON.parse(readFileSync(usage, 'utf8')) as Usage;
      const name = `clocks ${options.join(' ')} of ${hosts} hosts`.replace('  ', ' ');
      print(`${name.padEnd(44)} ${cpu.toFixed(2)} s of processor time, ${mebibytes.toFixed(0)} MiB`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
