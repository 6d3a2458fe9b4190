/**
 * A folder for unfinished output. It is removed when the work is done, fails or is interrupted. A killed process cannot remove its folder, so
 * the next process that makes a folder there does. A name proves nothing: another user may rename a folder in a shared directory. So a work
 * folder holds a file that its process keeps locked, and is removed if this user owns both and nobody holds the lock.
 */

import { closeSync, constants, fstatSync, openSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Interrupted, OutputError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { addon } from '../rankfile/addon.js';
import { HeldFolder } from './held_folder.js';

/** How long interrupted work may take to stop, in ms. */
const PATIENCE_MS = 5_000;

/** `beside`: the parent folder. Throws OutputError if no folder can be made, and `Interrupted`. */
export async function withWorkFolder<T>(
  beside: string,
  interrupt: AbortSignal | undefined,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const { folder, held, parent, lock } = await newFolder(beside).catch((error: unknown) => {
    const advice = beside === tmpdir() ? 'name another directory by TMPDIR' : 'choose another place';
    throw new OutputError(beside, `no file can be made here: ${reason(error)}`, advice, { cause: error });
  });
  removeDead(parent, held.stat.uid);
  const working = Promise.resolve(folder).then(use); // so that an error that `use` throws at once ends up below, too
  const over = new AbortController();
  try {
    return await Promise.race([working, interruption(interrupt, over.signal)]);
  } finally {
    over.abort();
    await settled(working);
    await remove(parent, basename(folder), held);
    for (const one of [parent, held]) one.close();
    if (lock !== null) closeSync(lock);
  }
}

async function newFolder(
  beside: string,
): Promise<{ folder: string; held: HeldFolder; parent: HeldFolder; lock: number | null }> {
  // Held first: a link that another user puts in its place leads to another folder.
  const parent = HeldFolder.named(beside);
  try {
    const draft = basename(await mkdtemp(parent.at(DRAFT)));
    return { parent, ...locked(parent, draft, beside) };
  } catch (error) {
    parent.close();
    throw error;
  }
}

function locked(
  parent: HeldFolder,
  draft: string,
  beside: string,
): { folder: string; held: HeldFolder; lock: number | null } {
  const held = parent.folder(draft);
  try {
    const lock = lockIn(held);
    // It gets its name when it is locked, so that nobody finds it unlocked.
    const name = PREFIX + draft.slice(DRAFT.length);
    renameSync(parent.at(draft), parent.at(name));
    return { folder: join(beside, name), held, lock };
  } catch (error) {
    // There is no room for the lock.
    empty(held);
    held.close();
    rmdirSync(parent.at(draft));
    throw error;
  }
}

/** What was held is emptied, whatever has its name now. Another thread or a child may just have made one more file in it. */
async function remove(parent: HeldFolder, name: string, folder: HeldFolder): Promise<void> {
  for (let tries = 0; ; tries++) {
    empty(folder);
    try {
      rmdirSync(parent.at(name));
      return;
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || tries === 3) return;
      if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    }
    await pause(100);
  }
}

/** The lock goes last: if this process is killed meanwhile, the next one goes on. */
function empty(folder: HeldFolder): void {
  const names = folder.entries().map(({ name }) => name);
  for (const name of [...names.filter((one) => one !== LOCK), LOCK])
    rmSync(folder.at(name), { recursive: true, force: true, maxRetries: 3 });
}

/** Waits for the work to stop, so that nothing is written into a folder that is being removed. */
async function settled(working: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([working.catch(() => undefined), patience]);
  clearTimeout(timer);
}

/** Never settles unless the signal comes before the work is `over`. */
function interruption(signal: AbortSignal | undefined, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => {
      reject(interruptedBy(signal));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true, signal: over });
  });
}

/** The signal that ended the work; the exit code follows from it. */
export const interruptedBy = (signal: AbortSignal | undefined): Interrupted =>
  signal?.reason instanceof Interrupted ? signal.reason : new Interrupted('interrupted, nothing was written');

const PREFIX = '.nccl-trace-work.';
/** Of a folder without a lock. */
const DRAFT = '.nccl-trace-new.';
/** With what mkdtemp adds. */
const NAME = /^\.nccl-trace-(work|new)\.[A-Za-z0-9]{6}$/;
const LOCK = '.lock';
/** ms: a process that lives has locked its folder long before. */
const LONG_DRAFT = 60_000;

/** null: without the addon, or where files cannot be locked. */
function lockIn(folder: HeldFolder): number | null {
  const file = openSync(folder.at(LOCK), 'wx', 0o600);
  if (addon?.lock(file) === true) return file;
  closeSync(file);
  rmSync(folder.at(LOCK));
  return null;
}

/** Removes folders of dead processes. Called after our own folder was made: if making it fails, removing would fail, too. */
function removeDead(parent: HeldFolder, user: number): void {
  for (const name of namesIn(parent)) {
    try {
      const folder = parent.folder(name);
      try {
        const { uid, mtimeMs } = folder.stat;
        const isYoung = name.startsWith(DRAFT) && Date.now() - mtimeMs < LONG_DRAFT;
        if (uid === user && !isYoung) removeUnlocked(parent, name, folder, user);
      } finally {
        folder.close();
      }
    } catch {
      // Another process may be removing it. A folder that stays does no harm.
    }
  }
}

function removeUnlocked(parent: HeldFolder, name: string, folder: HeldFolder, user: number): void {
  // It was killed before it had made its lock.
  if (name.startsWith(DRAFT) && folder.entries().length === 0) {
    rmdirSync(parent.at(name));
    return;
  }
  const lock = openSync(folder.at(LOCK), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(lock);
    if (!stat.isFile() || stat.uid !== user || addon?.lock(lock) !== true) return;
    empty(folder);
    rmdirSync(parent.at(name));
  } finally {
    closeSync(lock);
  }
}

function namesIn(folder: HeldFolder): string[] {
  try {
    return folder.entries().flatMap(({ name }) => (NAME.test(name) ? [name] : []));
  } catch {
    return []; // writable and not readable
  }
}
