/** A signal in the middle of a long computation ends the program, although it hears signals before and after. */

import { buildSync } from 'esbuild';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const [interrupts] = buildSync({
  entryPoints: [fileURLToPath(new URL('../../src/cli/interrupts.ts', import.meta.url))],
  ...{ bundle: true, platform: 'node', format: 'esm', write: false },
}).outputFiles;
const BUSY = "process.kill(process.pid, 'SIGTERM'); for (const end = Date.now() + 300; Date.now() < end; );";

/** Gets SIGTERM, then computes for a while. */
const program = (before: string): Promise<{ readonly signal: string | null; readonly out: string }> =>
  new Promise((done) => {
    const code = `${interrupts!.text}
      interruptible(async (interrupt) => {
        ${before}
        ${BUSY}
        console.log('computed');
        await new Promise(setImmediate);
        console.log(interrupt.aborted);
      });`;
    const args = ['--input-type=module', '-e', code];
    execFile(process.execPath, args, (error, out) => {
      done({ signal: error?.signal ?? null, out });
    });
  });

it('at once, if signals are not heard during the computation', async () => {
  expect(await program('hearSignals(false);')).toEqual({ signal: 'SIGTERM', out: '' });
});

it('with a handler, after the computation', async () => {
  const heard = { signal: null, out: 'computed\ntrue\n' };
  expect(await program('')).toEqual(heard);
  expect(await program('hearSignals(false); hearSignals(true);')).toEqual(heard);
});
