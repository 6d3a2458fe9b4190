/** Which files are steps of a merge. Commands that read rank files ask this first, without the code that reads a step. */

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { UsageError } from '../base/errors.js';
import type { FileKind } from './sections.js';

/** Judging by its first line. Throws the system's errors. */
export function isOfKind(path: string, kind: FileKind): boolean {
  const fd = openSync(path, 'r');
  try {
    const line = `nccl-trace ${kind}\n`;
    const start = Buffer.alloc(line.length);
    return readSync(fd, start, 0, line.length, 0) === line.length && start.toString('latin1') === line;
  } finally {
    closeSync(fd);
  }
}

/** The .study among the arguments of a command that reads rank files; null: there is none. Throws UsageError if it is not alone. */
export function studyAmong(paths: readonly string[]): string | null {
  const study = paths.find(isStudy);
  if (study === undefined) return null;
  if (paths.length > 1) throw new UsageError(`${study}: is a .study, which holds a whole run; name it alone`);
  return study;
}

/** Also false if the file cannot be read. The attempt to read it as a rank file then reports the reason. */
function isStudy(path: string): boolean {
  try {
    return statSync(path).isFile() && isOfKind(path, 'study');
  } catch {
    return false;
  }
}
