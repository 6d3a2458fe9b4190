/**
 * Asks the kernel about the process that wrote a file. The kernel knows only processes of this boot and pid namespace, so for files of
 * other nodes and containers the answer is "unknown".
 */

import { readFileSync, readlinkSync } from 'node:fs';
// This asks the kernel about another process.
// eslint-disable-next-line no-restricted-imports
import { kill } from 'node:process';
import type { ProcessIdentity } from './types.js';

/** `stopped`: by a signal (SIGSTOP) or a debugger. */
export type ProcessNow = 'runs' | 'stopped' | 'gone' | 'unknown';

export function processNow(process: ProcessIdentity): ProcessNow {
  try {
    return askKernel(process);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'unknown';
    throw error;
  }
}

/** Whether a process of this boot of this node wrote the file, in whatever container. Throws the system's error. */
export const isOfThisBoot = ({ bootId }: Pick<ProcessIdentity, 'bootId'>): boolean =>
  readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '') === bootId;

/** The recorder decides in the same way: LookFor in native/plugin/process/process_name.cc. */
function askKernel({ bootId, pidNamespace, pid, startTime }: ProcessIdentity): ProcessNow {
  if (!isOfThisBoot({ bootId })) return 'unknown';
  if (startTime === 0n || readlinkSync('/proc/self/ns/pid') !== `pid:[${pidNamespace}]`) return 'unknown';
  if (!isThere(pid)) return 'gone';
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The fields from the state on. The program's name before them may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, threads, start] = [fields[0], Number(fields[17]), BigInt(fields[19]!)];
  if (start !== startTime) return 'gone';
  if (state === 'T' || state === 't') return 'stopped';
  // If a process's first thread ends before the others, the process still runs.
  return (state === 'Z' || state === 'X') && threads <= 1 ? 'gone' : 'runs';
}

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
