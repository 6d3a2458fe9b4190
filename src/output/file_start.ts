/** How a file begins, which shows what it is. All throw the system's errors. */

import { closeSync, openSync, readSync } from 'node:fs';

/** So many bytes, or all if there are fewer. */
export function fileStart(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(bytes);
    return start.subarray(0, readSync(file, start, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}

/** `start`: characters of one byte each. */
export const beginsWith = (path: string, start: string): boolean =>
  fileStart(path, start.length).toString('latin1') === start;
