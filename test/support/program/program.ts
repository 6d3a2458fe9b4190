/** Runs the built program in a process of its own, as a user does. `npm test` has built it. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../../bin/nccl-trace.js', import.meta.url));

export interface ProgramResult {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
}

export function runProgram(cwd: string, ...args: string[]): Promise<ProgramResult> {
  return new Promise((done) => {
    const options = { cwd, encoding: 'buffer' as const, maxBuffer: 1 << 28 };
    execFile(process.execPath, [PROGRAM, ...args], options, (error, out, err) => {
      done({ code: Number(error?.code ?? 0), out, err: withoutProgress(err.toString()) });
    });
  });
}

/** On a busy machine any run may take long enough to print its progress. */
export const withoutProgress = (err: string): string =>
  err.replace(/^(headers|scan|clocks|verdict|convert|write)(: | \d+\/\d+ files).*\n/gm, '');
