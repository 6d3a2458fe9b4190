/**
 * The stacks of a process, by a debugger that is installed here. py-spy reads the stacks of a Python process without stopping it. gdb stops
 * the process, so it gets one second unless it is asked for: a job that looks hung may only be slow. Only one of the two is used.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isFrozen, livingFolder, orNull, processNow, type WrittenFile } from '../rankfile/index.js';

export interface Stacks {
  readonly by: 'py-spy' | 'gdb';
  readonly text: string;
  /** Why the text is not complete, or empty; null: it is complete. */
  readonly why: string | null;
}

/** A debugger that was ended early may have named threads only. */
export const hasFrames = ({ text }: Stacks): boolean => /^(#\d+ | {4}\S)/m.test(text);

/** ms */
const READ_ALONG = 10_000;
const STOPPED_AT_MOST = { auto: 1_000, gdb: 60_000 };
const POLL = 20;
const MOST_TEXT = 1 << 20;

/**
 * Stacks of the process that writes a rank file. The caller has checked that it does (isWrittenBy). 'gdb': gdb may stop it for a minute.
 * null: no debugger is installed, or the process has ended.
 */
export async function stacksOf(file: WrittenFile, how: 'auto' | 'gdb'): Promise<Stacks | null> {
  const pid = String(file.header.process.pid);
  const before = processNow(file);
  if (before !== 'runs' && before !== 'stopped') return null;
  if (how === 'auto' && isPython(file.header.process.pid)) {
    const read = await output('py-spy', ['dump', '--nonblocking', '--pid', pid], READ_ALONG);
    if (read !== null) return { by: 'py-spy', ...read };
  }
  // gdb would wait until the process runs again, and leave it stopped if it was ended before.
  if (isFrozen(file.header.process.pid)) return { by: 'gdb', text: '', why: 'its cgroup is frozen' };
  // No file of the user's, nothing from the network, and frames enough to tell the call.
  const quiet = ['-nx', '-batch', '-iex', 'set debuginfod enabled off', '-iex', 'set auto-load off'];
  const over = new AbortController();
  const args = [...quiet, '-p', pid, '-ex', 'thread apply all bt 40'];
  const reading = output('gdb', args, STOPPED_AT_MOST.gdb, over.signal);
  const isDone = reading.then(() => true);
  // The time counts from the moment at which the process stands still: gdb itself needs some time to start.
  while (before === 'runs' && how === 'auto' && !(await Promise.race([isDone, pause(POLL, false)]))) {
    if (processNow(file) !== 'stopped') continue;
    if (!(await Promise.race([isDone, pause(STOPPED_AT_MOST.auto, false)]))) over.abort();
    break;
  }
  const read = await reading;
  // A debugger that is ended while it attaches leaves the process stopped.
  if (before === 'runs' && processNow(file) === 'stopped') await output('kill', ['-CONT', pid], READ_ALONG);
  return read && { by: 'gdb', ...read };
}

function isPython(pid: number): boolean {
  const folder = livingFolder(pid);
  const maps = folder === null ? null : orNull(() => readFileSync(`${folder}/maps`, 'latin1'));
  return /\/(lib)?python[\d.]*[^/]*$/m.test(maps ?? '');
}

/** null: there is no such program. */
function output(
  program: string,
  args: readonly string[],
  limit: number,
  signal?: AbortSignal,
): Promise<Pick<Stacks, 'text' | 'why'> | null> {
  return new Promise((done) => {
    const options = { timeout: limit, killSignal: 'SIGKILL', maxBuffer: MOST_TEXT, signal } as const;
    execFile(program, args, options, (error, text, complaint) => {
      if (error === null) done({ text, why: null });
      else if (error.code === 'ENOENT') done(null);
      else if (error.killed === true || signal?.aborted)
        done({ text, why: 'ended before it was done, to let the process go on' });
      else done({ text, why: complaint.trim().split('\n').at(-1) ?? error.message });
    });
  });
}
