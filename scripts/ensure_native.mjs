// Builds native files when they are first needed by `demo`, `plugin-path` or the tests. Compiling all of them at install would make
// everyone wait who only wants to read a trace. Says how far it is: on a terminal in one line, else in a line now and then.

import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { NativeBuildError, buildNative } from './native_build.mjs';

const LOOK_MS = 100;
const LINE_EVERY_MS = 10_000;
const FIRST_LINE_MS = 2_000;
const NOT_WRITABLE = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC', 'EDQUOT'];

/**
 * @param {object} options  those of buildNative, and
 * @param {string} options.root
 * @param {string} options.what  "building the plugin"
 * @returns {Promise<string | undefined>} why nothing was built, in one sentence, or undefined
 */
export async function ensureNative({ root, what, ...options }) {
  const folder = path.join(root, 'build');
  let lock;
  try {
    mkdirSync(folder, { recursive: true });
    lock = await lockIn(folder);
    return await buildNative({ root, ...options, onProgress: progressOf(what) });
  } catch (error) {
    if (!NOT_WRITABLE.includes(error.code)) throw error;
    const advice = 'run "npm run build" where it can be written, or in a copy';
    throw new NativeBuildError(`${folder} cannot be written (${error.code}); ${advice}`, { cause: error });
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    lock?.close();
  }
}

/**
 * One build at a time in a folder: a second one waits, and then finds everything built. The owner listens, and nobody answers for a build that was
 * killed. Where there can be no lock, or between two hosts, the same work is done twice. That does no harm, because results are renamed into place.
 */
async function lockIn(folder) {
  const lock = path.join(folder, '.lock');
  for (let isNew = true; ;) {
    const server = createServer();
    const fault = await outcome(server.listen(lock), 'listening');
    if (fault?.code !== 'EADDRINUSE') return fault === undefined ? server : undefined;
    const other = connect(lock);
    if ((await outcome(other, 'connect')) !== undefined) rmSync(lock, { force: true });
    else if (isNew) process.stderr.write('another build is running here: waiting for it\n');
    else await setTimeout(LOOK_MS);
    other.destroy();
    isNew = false;
  }
}

const outcome = (of, event) =>
  new Promise((resolve) => of.once(event, () => resolve()).once('error', resolve));

function progressOf(what) {
  const isTerminal = process.stderr.isTTY;
  let saidAt;
  return (done, total) => {
    const now = performance.now();
    saidAt ??= now - LINE_EVERY_MS + FIRST_LINE_MS;
    if (!isTerminal && now - saidAt < LINE_EVERY_MS) return;
    saidAt = now;
    const line = `${what}: ${done} of ${total} files`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  };
}
