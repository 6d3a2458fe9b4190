/**
 * The last step of every output: a file appears whole, by rename, or not at all; a stream gets the bytes directly. Until then the
 * data is in a work folder beside the file, or in the temporary directory for streams.
 */

import { constants, createWriteStream, openSync } from 'node:fs';
import { chmod, rename, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Writable } from 'node:stream';
import { checkOutput, type Output, type Permission } from './allowed.js';
import type { Place } from './place.js';
import { OutputError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { interruptedBy, withWorkFolder } from './work_folder.js';

/** As rank files: a trace has names of hosts, a page may have stacks. */
const PRIVATE = 0o600;

export interface Delivery {
  readonly place: Place;
  readonly output: Output;
  readonly permission: Permission;
  readonly interrupt?: AbortSignal | undefined;
  /** Used for descriptor 1, if given. */
  readonly stdout?: Writable | undefined;
}

/** Beside the output, so that a rename works. */
export const withWorkFolderFor = <T>(
  place: Place,
  interrupt: AbortSignal | undefined,
  use: (folder: string) => Promise<T>,
): Promise<T> => withWorkFolder(place.kind === 'file' ? dirname(place.path) : tmpdir(), interrupt, use);

/** Returns the number of bytes. Throws the system's errors, OutputError, Interrupted. */
export async function deliver(
  { place, output, permission, interrupt, stdout }: Delivery,
  folder: string,
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of content) {
      bytes += piece.length;
      yield piece;
    }
  }
  const signal = interrupt === undefined ? {} : { signal: interrupt };
  if (place.kind === 'file') {
    const draft = join(folder, 'draft');
    await pipeline(
      counted,
      createWriteStream(draft, { flags: 'wx', mode: output.kind.mode ?? PRIVATE }),
      signal,
    );
    // Writing took a while: check again what is there.
    const now = checkOutput(output, permission);
    // A user who made the file readable for others meant it.
    if (now.kind === 'file' && now.access !== null && now.access.uid === (await stat(draft)).uid)
      await chmod(draft, now.access.mode);
    await rename(draft, place.path);
  } else if (place.kind === 'descriptor' && place.fd === 1 && stdout !== undefined) {
    await pipeline(counted, stdout, { ...signal, end: false });
  } else await pipeline(counted, await streamTo(place, interrupt), signal);
  return bytes;
}

/** What the system refuses is told with the name that the user gave. All other errors stay as they are. */
export const outputFailed =
  (named: string, advice = 'nothing was written') =>
  (error: unknown): never => {
    if (codeOf(error) === '') throw error;
    throw new OutputError(named, reason(error), advice, { cause: error });
  };

async function streamTo(place: Exclude<Place, { kind: 'file' }>, interrupt?: AbortSignal): Promise<Writable> {
  if (place.kind === 'descriptor') return createWriteStream('', { fd: place.fd, autoClose: false });
  if (place.kind === 'fifo') return fifo(place.named, interrupt);
  return createWriteStream('', { fd: openSync(place.named, constants.O_WRONLY | constants.O_NOCTTY) });
}

const POLL_MS = 20;

/** Opens without blocking, because a blocking open or write cannot be interrupted. */
async function fifo(path: string, interrupt?: AbortSignal): Promise<Writable> {
  for (;;) {
    if (interrupt?.aborted) throw interruptedBy(interrupt);
    const fd = openForReader(path);
    if (fd !== null) return new Socket({ fd, readable: false, writable: true });
    await pause(POLL_MS);
  }
}

/** null: no process reads the FIFO yet. */
function openForReader(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENXIO') return null;
    throw error;
  }
}
