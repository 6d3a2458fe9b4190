/** Which files are steps of a merge. Commands that read rank files ask this first, without the code that reads a step. */

import { statSync } from 'node:fs';
import { UsageError } from '../base/errors.js';
import { beginsWith } from '../output/file_start.js';
import type { FileKind } from './sections.js';

/** Judging by its first line. Throws the system's errors. */
export const isOfKind = (path: string, kind: FileKind): boolean => beginsWith(path, `nccl-trace ${kind}\n`);

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
