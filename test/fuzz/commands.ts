/** Runs commands of the built program on a folder of forged files, and says what no file may cause: a stack, a crash, more than 1 GiB or a minute. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { PROGRAM } from '../support/program/program.js';
import { TELL_PEAK } from '../rankfile/peak.js';

/** kB that the process may have had in memory at once. */
const MOST_KB = 2 ** 20;
/** Address space, kB: V8 takes 2 GB before anything is read. */
const MOST_ADDRESSES_KB = 4 * 2 ** 20;

/** By the clock, since a file may also make a command wait. */
const MOST_MS = 60_000;

const COMMANDS = {
  inspect: (folder: string) => ['inspect', folder],
  merge: (folder: string) => ['merge', folder, '--force', '-o', path.join(folder, 'run.pftrace')],
  report: (folder: string) => ['report', folder, '--force', '-o', path.join(folder, 'report.html')],
  links: (folder: string) => ['links', folder],
  clocks: (folder: string) => ['clocks', folder],
  diff: (folder: string) => ['diff', folder, folder],
  scan: (folder: string) => ['scan', folder, '--force', '-o', path.join(folder, 'node.scan')],
  snapshot: (folder: string) => ['snapshot', folder, '-o', path.join(folder, 'copy', String(Date.now()))],
  watch: (folder: string) => ['watch', folder, '--linger', '0', '--stacks', 'off', '--act-on', 'none'],
  metrics: (folder: string) => ['metrics', folder, '--once'],
  control: (folder: string) => ['control', folder, '--events', 'all', '--wait', '0'],
  prune: (folder: string) => ['prune', folder, '--keep', '1', '--even', 'young,hung,broken', '-n'],
} as const;

export const EVERY_COMMAND = Object.keys(COMMANDS) as (keyof typeof COMMANDS)[];

interface Ran {
  readonly said: string;
  readonly faults: readonly string[];
}

export function commandsOn(folder: string, names: readonly (keyof typeof COMMANDS)[]): Ran[] {
  return names.map((command) => {
    // A watch of a job that may go on is ended as a person would.
    const script = `ulimit -v "$0" && exec ${command === 'watch' ? 'timeout --signal=INT 8 ' : ''}"$@"`;
    const args = ['-c', script, String(MOST_ADDRESSES_KB), process.execPath, ...REPORTING];
    const { status, signal, stdout, stderr } = spawnSync(
      'bash',
      [...args, PROGRAM, ...COMMANDS[command](folder)],
      { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'], timeout: MOST_MS },
    );
    const said = stdout + stderr;
    const kB = Number(/^VmHWM:\s*(\d+) kB$/m.exec(stderr)?.[1] ?? NaN);
    const faults = [
      ...(signal === null ? [] : [`ended by ${signal}`]),
      ...(status === 70 || /^ +at .*:\d+:\d+\)?$/m.test(said) ? ['a stack'] : []),
      ...(kB <= MOST_KB ? [] : [`${kB} kB`]),
    ];
    return { said, faults };
  });
}

/** The process itself says its peak when it ends. With the option that the launcher would give, so that there is no second process. */
const REPORTING = ['--disable-wasm-trap-handler', '--import', TELL_PEAK];
