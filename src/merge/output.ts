/**
 * The trace's way to its place: everything is written beside the target under a temporary name and renamed at the end,
 * so a failed run leaves nothing, and an existing trace is replaced whole or not at all. "-" is the standard output.
 */

import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Writable } from 'node:stream';
import { Interrupted, OutputError, UsageError } from '../base/errors.js';
import { compressed, compressionOf } from './compression.js';

export const STDOUT = '-';

/** Refuses early what would fail late. */
export function checkTarget(path: string, force: boolean): void {
  if (path === STDOUT) return;
  if (/\.(zip|json)$/.test(path)) {
    throw new UsageError(`${path}: traces are written as .pftrace, .pftrace.gz or .pftrace.zst`);
  }
  if (existsSync(path) && !force) throw new OutputError(path, 'already exists', 'use --force to replace it');
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) throw new OutputError(path, `there is no directory ${folder}`, 'create it first');
}

/** A folder beside the target, for the blocks and the trace in the making; gone when `use` is done, come what may. */
export async function withWorkFolder<T>(
  target: string,
  interrupt: AbortSignal | undefined,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const beside = target === STDOUT ? '.' : dirname(resolve(target));
  const prefix = join(beside, `.${target === STDOUT ? 'stdout' : basename(target)}.`);
  let folder: string;
  try {
    folder = await mkdtemp(prefix);
  } catch (error) {
    throw new OutputError(target, reason(error), 'choose another place with -o', { cause: error });
  }
  const working = use(folder);
  try {
    return await Promise.race([working, interruption(interrupt)]);
  } finally {
    await settled(working);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whoever was interrupted is given a moment to stop, so that nothing is written into what is being removed. */
async function settled(working: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, 5_000)));
  await Promise.race([working.catch(() => undefined), patience]);
  clearTimeout(timer);
}

/** Never settles unless the signal comes. */
function interruption(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => {
      reject(new Interrupted('interrupted, nothing was written'));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Joins prologue and blocks and moves the result to its place. Returns its size in bytes. */
export async function assemble(
  target: string,
  folder: string,
  prologue: Uint8Array,
  blocks: readonly string[],
  stdout: Writable | undefined,
): Promise<number> {
  const first = join(folder, 'prologue');
  await writeFile(first, compressed(prologue, compressionOf(target)));
  const parts = [first, ...blocks];
  if (target === STDOUT) {
    if (!stdout) throw new UsageError('"-" needs a standard output');
    return concatenate(parts, stdout, false);
  }
  const trace = join(folder, 'trace');
  const bytes = await concatenate(parts, createWriteStream(trace, { mode: 0o666 }), true);
  await rename(trace, target);
  return bytes;
}

async function concatenate(parts: readonly string[], sink: Writable, end: boolean): Promise<number> {
  let bytes = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      for await (const chunk of createReadStream(part, { highWaterMark: 1 << 20 })) {
        bytes += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    }
  }
  await pipeline(chunks, sink, { end });
  return bytes;
}

/** The system's own words, for the errors that have a person's remedy. */
export function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words: Readonly<Record<string, string>> = {
    ENOSPC: 'the disk is full',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'the file grew beyond the allowed size',
    ENOENT: 'no such directory',
  };
  return words[code] ?? (error instanceof Error ? error.message : String(error));
}
