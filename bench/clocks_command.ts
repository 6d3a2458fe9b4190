/**
 * What `nccl-trace clocks` costs for a large job: one rank per host, a ring whose senders wait for room, each host with a clock of its own. The
 * files hold 60 s with 200 messages per link. Beside it the same files without alignment, so what is left is the scan.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seeded } from '../test/support/clocks/simulated_links.js';
import { writeManyFiles } from './merge/many_files.js';

/** Of command.mjs, which is not compiled with this file. */
interface CommandModule {
  readonly command: (args: readonly string[]) => { readonly cpu: number; readonly mebibytes: number };
}

const COLLECTIVES = 34;
const APART_NS = 60e9 / COLLECTIVES;

/** `root`: of the repository, built. */
export async function clocksCommand(
  hosts: number,
  root: string,
  print: (line: string) => void,
): Promise<void> {
  const { command } = (await import(pathToFileURL(join(root, 'bench/command.mjs')).href)) as CommandModule;
  const folder = mkdtempSync(join(tmpdir(), 'nccl-trace-bench-'));
  try {
    const random = seeded(5);
    const waitingNs = (): number => 10_000 - 5000 * Math.log(1 - random());
    const shape = { ranksPerHost: 1, apartNs: APART_NS, stepNs: 200_000, waitingNs };
    writeManyFiles(folder, hosts, COLLECTIVES, shape);
    for (const options of [[], ['--clock', 'realtime']]) {
      const { cpu, mebibytes } = command(['clocks', folder, ...options]);
      const name = `clocks ${options.join(' ')} of ${hosts} hosts`.replace('  ', ' ');
      print(`${name.padEnd(44)} ${cpu.toFixed(2)} s of CPU time, ${mebibytes.toFixed(0)} MiB`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
