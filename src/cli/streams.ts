/** Data on the standard output, and messages on the standard error. The reader of either may go away. */

import { OutputError } from '../base/errors.js';
import { reason } from '../base/reason.js';
import { printable } from '../report/text.js';

/** Waits for a slow reader. False when the reader has closed the pipe (`| head`), which is no error. */
export function print(text: string): Promise<boolean> {
  return new Promise((done, fail) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) done(true);
      else if (isBrokenPipe(error)) done(false);
      else fail(new OutputError('standard output', reason(error), 'send it elsewhere', { cause: error }));
    });
  });
}

/** Text with our own line breaks. */
export function say(text: string): void {
  process.stderr.write(text);
}

/** One sentence, with our name in front. */
export function complain(text: string): void {
  say(`nccl-trace: ${printable(text)}\n`);
}

export interface Problems {
  readonly problems: readonly string[];
  /** Files that cannot be used: part of `problems`. */
  readonly unusable: readonly string[];
}

/** With --quiet only errors: what is missing because a file cannot be used must not be taken for absent. */
export function tellProblems({ problems, unusable }: Problems, quiet: boolean | undefined): void {
  for (const problem of quiet ? unusable : problems) complain(problem);
}

export const isBrokenPipe = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');

/** An error without a listener ends the process with a stack. Writers get it through the callback of the write. */
export function hearErrors(): void {
  for (const stream of [process.stdout, process.stderr])
    if (!stream.listeners('error').includes(heard)) stream.on('error', heard);
}

const heard = (): void => undefined;
