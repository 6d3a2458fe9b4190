/** How a command makes rank files: each appears whole, under a name that nothing had. Nothing is ever replaced, because a rank file is evidence. */

import { linkSync, lstatSync, renameSync } from 'node:fs';
import path from 'node:path';
import { NoUsableInput, OutputError, RankFileError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { makeFolder } from '../output/make_folder.js';
import { withWorkFolder } from '../output/work_folder.js';

/** Writes the file at `to`, whose folder is made. `write` gets another name in this folder. */
export async function makeRankFile<T>(
  to: string,
  interrupt: AbortSignal,
  write: (draft: string) => T,
): Promise<T> {
  const folder = path.dirname(to);
  try {
    makeFolder(folder, 0o700);
    return await withWorkFolder(folder, interrupt, (work) => {
      const draft = path.join(work, 'copy');
      const result = write(draft);
      publish(draft, to);
      return Promise.resolve(result);
    });
  } catch (error) {
    if (error instanceof OutputError || error instanceof RankFileError || error instanceof NoUsableInput)
      throw error;
    if (!(error instanceof Error) || !('code' in error)) throw error; // has a message already
    throw new OutputError(to, `cannot be written: ${reason(error)}`, 'name another folder', { cause: error });
  }
}

/** Another process may write to the same folder. The first of two files stays. */
function publish(draft: string, to: string): void {
  try {
    linkSync(draft, to); // a rename would replace the other's
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new OutputError(to, 'was made meanwhile, by another process', 'name another folder');
    // Not every file system has links.
    refuseExisting(to);
    renameSync(draft, to);
  }
}

export function refuseExisting(to: string): void {
  if (isThere(to)) throw new OutputError(to, 'exists', 'name another folder');
}

/** Also a link to nothing. A place that cannot be looked at is found when it is written to. */
function isThere(to: string): boolean {
  try {
    return lstatSync(to, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
