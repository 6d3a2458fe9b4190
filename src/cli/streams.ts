/** Words for a person, on the standard error. They and the data on the standard output may lose their reader while we talk. */

import { printable } from '../report/text.js';

/** Words in lines of our own. */
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
