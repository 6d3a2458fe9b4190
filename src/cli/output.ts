/** The two ways out: data on the standard output, words on the standard error. Both may go away while we talk. */

import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { OutputError, UsageError } from '../base/errors.js';
import { reason, STDOUT } from '../merge/output.js';
import { printable } from './text.js';

/** Waits for a slow reader; false when it has gone (`| head`): that is no error, and there is no more to be said. */
export function print(text: string): Promise<boolean> {
  return new Promise((done, fail) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) done(true);
      else if (isBrokenPipe(error)) done(false);
      else fail(new OutputError('standard output', reason(error), 'send it elsewhere', { cause: error }));
    });
  });
}

/** Words for a person, in lines of our own. */
export function say(text: string): void {
  process.stderr.write(text);
}

/** One sentence about one thing. */
export function complain(words: string): void {
  say(`nccl-trace: ${printable(words)}\n`);
}

export const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');

/** An unheard error ends the process with a stack. Whoever writes hears of it by the callback of the write. */
export function hearErrors(): void {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners('error').includes(heard)) stream.on('error', heard);
}

const heard = (): void => undefined;

/** Refuses early what would fail late, when the trace has been written. */
export function checkSummary(path: string | undefined, trace: string, force: boolean): void {
  if (path === undefined) return;
  if (path === STDOUT && trace === STDOUT)
    throw new UsageError('--summary - and -o -: only one of them can go to the standard output');
  if (path === STDOUT) return;
  if (trace !== STDOUT && resolve(path) === resolve(trace))
    throw new UsageError(`--summary ${path}: is the trace's own name`);
  if (existsSync(path) && !force) throw new OutputError(path, 'already exists', 'use --force to replace it');
  if (!existsSync(dirname(resolve(path))))
    throw new OutputError(path, `there is no directory ${dirname(resolve(path))}`, 'create it first');
}

/** JSON to a file, whole or not at all, or to the standard output. */
export async function writeSummary(path: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (path === STDOUT) {
    await print(text);
    return;
  }
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(dirname(resolve(path)), `.${basename(path)}.`));
    const draft = join(folder, 'summary');
    await pipeline([text], createWriteStream(draft, { mode: 0o666 }));
    await rename(draft, path);
  } catch (error) {
    throw new OutputError(path, reason(error), 'the trace itself was written', { cause: error });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
