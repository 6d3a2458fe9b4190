/**
 * Makes a folder and those above it that are missing, one by one. `mkdirSync` with `recursive` says "no such file or directory" of a read-only
 * file system (findings/node_mkdir_reasons.sh), and there are file systems on which it does not end.
 */

import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** A folder that is there stays as it is. `mode`: of each that is made. Throws the system's error. */
export function makeFolder(folder: string, mode: number): void {
  const above = path.dirname(folder);
  if (above !== folder && statSync(above, { throwIfNoEntry: false }) === undefined) makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
