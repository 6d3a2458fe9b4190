/** Runs commands of the built program on a folder of forged files, and says what no file may cause: a stack, a crash, more than 1 GiB. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { PROGRAM } from '../support/program/program.js';
import { TELL_PEAK } from '../rankfile/peak.js';

/** kB that the process may have had in memory at once. */
const MOST_KB = 2 ** 20;
/** Address space, kB: V8 takes 2 GB before anything is read. */
const MOST_ADDRESSES_KB = 4 * 2 ** 20;

const COMMANDS = {
  inspect: (folder: string) => ['inspect', folder],
  merge: (folder: string) => ['merge', folder, '--force', '-o', path.join(folder, 'run.pftrace')],
  report: (folder: string) => ['report', folder, '--force', '-o', path.join(folder, 'report.html')],
} as const;

interface Ran {
  readonly said: string;
  readonly faults: readonly string[];
}

export function commandsOn(folder: string, names: readonly (keyof typeof COMMANDS)[]): Ran[] {
  return names.map((command) => {
    const script = 'ulimit -v "$0" && exec "$@"';
    const args = ['-c', script, String(MOST_ADDRESSES_KB), process.execPath, ...REPORTING];
    const { status, signal, stdout, stderr } = spawnSync(
      'bash',
      [...args, PROGRAM, ...COMMANDS[command](folder)],
      { encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'pipe'] },
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
