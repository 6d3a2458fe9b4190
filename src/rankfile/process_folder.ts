/**
 * The folder of /proc that tells about a process. If its first thread has ended while others run, the folder of the process has no maps and
 * no descriptors, without an error. Then the folder of a living thread has them.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from '../base/reason.js';

/** As in ps. The name before the state may contain spaces and parentheses. null: there is no such process or thread. */
export function statFields(folder: string): readonly string[] | null {
  const line = orNull(() => readFileSync(`${folder}/stat`, 'latin1'));
  return line === null ? null : line.slice(line.lastIndexOf(')') + 2).split(' ');
}

export const hasEnded = (state: string | undefined): boolean => state === 'Z' || state === 'X';

/** null: no thread of it lives, or /proc hides it. */
export function livingFolder(pid: number): string | null {
  const folder = `/proc/${pid}`;
  const state = statFields(folder)?.[0];
  if (state === undefined || !hasEnded(state)) return state === undefined ? null : folder;
  const threads = threadsOf(pid) ?? [];
  const living = threads.find((tid) => {
    const now = statFields(`${folder}/task/${tid}`)?.[0];
    return now !== undefined && !hasEnded(now);
  });
  return living === undefined ? null : `${folder}/task/${living}`;
}

/** null: it has ended, or this user may not read them. */
export const threadsOf = (pid: number): string[] | null => orNull(() => readdirSync(`/proc/${pid}/task`));

/**
 * Whether the process's control group is frozen, as by docker pause. Its state does not tell: in cgroup v2 it is S, as of a process that waits, in v1 D.
 * A group that is mounted elsewhere than usual, or outside of the own namespace (`/..`), is taken for one that runs.
 */
export function isFrozen(pid: number): boolean {
  const groups = textOf(`/proc/${pid}/cgroup`);
  if (groups.includes('/..')) return false;
  const [, unified = ''] = /^0::(.*)$/m.exec(groups) ?? [];
  const [, freezer = ''] = /^\d+:freezer:(.*)$/m.exec(groups) ?? [];
  return (
    /^frozen 1$/m.test(textOf(`/sys/fs/cgroup/${unified}/cgroup.events`)) ||
    /^frozen 1$/m.test(textOf(`/sys/fs/cgroup/unified/${unified}/cgroup.events`)) ||
    /^FROZEN$/m.test(textOf(`/sys/fs/cgroup/freezer/${freezer}/freezer.state`))
  );
}

const textOf = (file: string): string => orNull(() => readFileSync(file, 'latin1')) ?? '';

/**
 * By link in /proc: what each descriptor has open. null: not known. Root without SYS_PTRACE may list the descriptors of others, but not read
 * the links.
 */
export function openFiles(folder: string): ReadonlyMap<string, string> | null {
  const descriptors = orNull(() => readdirSync(`${folder}/fd`));
  if (descriptors === null) return null;
  const open = new Map<string, string>();
  for (const one of descriptors)
    try {
      open.set(`${folder}/fd/${one}`, readlinkSync(`${folder}/fd/${one}`, 'latin1'));
    } catch (error) {
      if (codeOf(error) === '') throw error;
      if (codeOf(error) !== 'ENOENT') return null; // ENOENT: closed since they were listed
    }
  return open;
}

/** null: it is gone, or this user may not read it. */
export function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (codeOf(error) === '') throw error;
    return null;
  }
}
