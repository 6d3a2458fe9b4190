/**
 * A folder for unfinished output. It is removed when the work is done, fails or is interrupted. A killed process cannot remove its folder,
 * so the name says who made it. The next process that makes a folder there removes folders of dead processes. A process is certainly dead
 * if it had the same user, boot and pid namespace, and no longer exists. Folders from another host or container stay.
 */

import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Interrupted, OutputError } from '../base/errors.js';
import { reason } from '../base/reason.js';

/** How long interrupted work may take to stop, in ms. */
const PATIENCE_MS = 5_000;

/** `beside`: the parent folder. Throws OutputError if no folder can be made, and `Interrupted`. */
export async function withWorkFolder<T>(
  beside: string,
  interrupt: AbortSignal | undefined,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(beside, `${PREFIX}${maker()}.`)).catch((error: unknown) => {
    const advice = beside === tmpdir() ? 'name another directory by TMPDIR' : 'choose another place';
    throw new OutputError(beside, `no file can be made here: ${reason(error)}`, advice, { cause: error });
  });
  removeDead(beside, lstatSync(folder).uid);
  const working = use(folder);
  const done = new AbortController();
  try {
    return await Promise.race([working, interruption(interrupt, done.signal)]);
  } finally {
    done.abort();
    await settled(working);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Waits for the work to stop, so that nothing is written into a folder that is being removed. */
async function settled(working: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([working.catch(() => undefined), patience]);
  clearTimeout(timer);
}

/** Never settles unless the signal comes. `done`: nobody waits any more, so nothing must stay behind at a signal that outlives the work. */
function interruption(signal: AbortSignal | undefined, done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => {
      reject(interruptedBy(signal));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true, signal: done });
  });
}

/** The signal that ended the work; the exit code follows from it. */
export const interruptedBy = (signal: AbortSignal | undefined): Interrupted =>
  signal?.reason instanceof Interrupted ? signal.reason : new Interrupted('interrupted, nothing was written');

const PREFIX = '.nccl-trace-work.';
/** The name of a folder: boot, pid namespace, pid, the process's start in ticks since the boot, then what mkdtemp adds. */
const NAME = /^\.nccl-trace-work\.([0-9a-f]{32})-(\d+)-(\d+)-(\d+)\.[A-Za-z0-9]{6}$/;

/** "unknown" if /proc does not say. Such a folder is never removed. */
function maker(): string {
  const here = surroundings();
  const start = startOf('self');
  return here === null || start === null ? 'unknown' : `${here.boot}-${here.pids}-${here.pid}-${start}`;
}

/** Removes folders of dead processes. Called after our own folder was made: if making it fails, removing would fail, too. */
function removeDead(beside: string, user: number): void {
  const here = surroundings();
  if (here === null) return;
  for (const name of namesIn(beside)) {
    const [, boot, pids, pid, start] = NAME.exec(name) ?? [];
    if (boot !== here.boot || pids !== here.pids || startOf(pid ?? '') === start) continue;
    const folder = join(beside, name);
    try {
      const stat = lstatSync(folder);
      if (stat.isDirectory() && stat.uid === user) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process may be removing it. A folder that stays does no harm.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // writable and not readable
  }
}

/** A pid is unique only within these. */
function surroundings(): { boot: string; pids: string; pid: string } | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
    const pids = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    return pids === undefined ? null : { boot, pids, pid: readlinkSync('/proc/self') };
  } catch {
    return null;
  }
}

/** Field 22 of /proc/PID/stat; the name before may hold anything. null: there is no such process, or it has ended. */
function startOf(pid: string): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
