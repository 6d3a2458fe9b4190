/**
 * Asks the kernel about the process that wrote a file. The kernel knows only processes of this boot and pid namespace, so for files of
 * other nodes and containers the answer is "unknown".
 */

import { readFileSync, readlinkSync } from 'node:fs';
// This asks the kernel about another process.
// eslint-disable-next-line no-restricted-imports
import { kill } from 'node:process';
import { isWrittenBy, type WrittenFile } from './process_files.js';
import { hasEnded, isFrozen, statFields, threadsOf } from './process_folder.js';
import type { ProcessIdentity } from './file_types.js';

/** `stopped`: by a signal (SIGSTOP), a debugger, or its control group (docker pause). */
export type ProcessNow = 'runs' | 'stopped' | 'gone' | 'unknown';

export function processNow(file: WrittenFile): ProcessNow {
  try {
    return askKernel(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'unknown';
    throw error;
  }
}

/** The kernel says so. Nobody writes a snapshot. */
export const isStopped = (file: WrittenFile): boolean =>
  file.header.snapshotRealtime === null && processNow(file) === 'stopped';

let thisBoot: string | undefined;

/** Whether a process of this boot of this node wrote the file, in whatever container. Throws the system's error. */
export function isOfThisBoot({ bootId }: Pick<ProcessIdentity, 'bootId'>): boolean {
  thisBoot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
  return thisBoot === bootId;
}

/** The recorder decides in the same way: LookFor in native/plugin/process/process_name.cc. */
function askKernel(file: WrittenFile): ProcessNow {
  const { bootId, pidNamespace, pid, startTime } = file.header.process;
  if (!isOfThisBoot({ bootId })) return 'unknown';
  if (startTime === 0n || readlinkSync('/proc/self/ns/pid') !== `pid:[${pidNamespace}]`) return 'unknown';
  if (!isThere(pid)) return 'gone';
  const fields = statFields(`/proc/${pid}`);
  if (fields === null) return isThere(pid) ? 'unknown' : 'gone';
  // In another time namespace the process has another start. Only its files tell it from a later process with its pid.
  if (BigInt(fields[19]!) !== startTime) {
    const isWriter = isWrittenBy(pid, file);
    if (isWriter !== true) return isWriter === null ? 'unknown' : 'gone';
  }
  return stateOf(pid, fields);
}

function stateOf(pid: number, [state, ...fields]: readonly string[]): ProcessNow {
  if (state === 'T' || (state === 't' && isHalted(pid))) return 'stopped';
  // If a process's first thread ends before the others, the process still runs.
  if (hasEnded(state) && Number(fields[16]) <= 1) return 'gone';
  return state !== 'R' && isFrozen(pid) ? 'stopped' : 'runs';
}

/**
 * A tracer (strace) stops a thread for a moment at each of its calls, and the process runs. A debugger stops all threads. One of them is
 * the recorder's, which sleeps from heartbeat to heartbeat unless it is stopped.
 */
const isHalted = (pid: number): boolean =>
  (threadsOf(pid) ?? []).every((tid) => /^[tTZX]/.test(statFields(`/proc/${pid}/task/${tid}`)?.[0] ?? 't'));

/** Sends signal 0, because /proc may hide the processes of other users. */
function isThere(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
