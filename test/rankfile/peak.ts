/** The memory that a command takes. */

import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { PROGRAM } from '../support/program/program.js';

export const MiB = 2 ** 20;

/** Not maxRSS of resourceUsage: in a child process it begins with the parent's peak. */
export const TELL_PEAK =
  "data:text/javascript,import { readFileSync } from 'node:fs';" +
  "process.on('exit', () => console.error(readFileSync('/proc/self/status', 'latin1')))";

/** Peak resident bytes of a command in a process of its own. */
export function peak(...words: readonly string[]): number {
  const run = spawnSync(process.execPath, ['--import', TELL_PEAK, PROGRAM, ...words], { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(run.stderr)?.[1]) * 1024;
}
