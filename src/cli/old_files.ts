/**
 * The rank files below a directory for `prune`, found and removed by descriptors: no link is followed, so nothing outside of the directory is
 * found, and what is removed is the file that was looked at, in the folder where it was found.
 */

import { lstatSync, rmdirSync, unlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { append } from '../base/extremes.js';
import { OutputError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import type { HeldFolder } from '../output/held_folder.js';
import { complain } from './streams.js';

/** A rank file or saved rings. */
export interface OldFile {
  /** With the directory as the user named it. */
  readonly path: string;
  /** Folders from the directory on: none, one or two. */
  readonly below: readonly string[];
  readonly name: string;
  readonly stat: Stats;
  /** Or anything else that is no file. */
  readonly isLink: boolean;
  readonly isBesideLink: boolean;
}

/** In the directory, in each folder in it and, where such a folder has none (it is that of a job), in the folders of its runs. */
export function filesBelow(folder: HeldFolder, below: readonly string[] = []): OldFile[] {
  const entries = folder.entries();
  const named = entries.filter(({ name }) => /^rank.*\.bin(\.rings)?$/s.test(name));
  const isBesideLink = named.some((entry) => !entry.isFile() && !entry.isDirectory());
  const files = named.flatMap((entry): OldFile[] => {
    const stat = lstatSync(folder.at(entry.name), { throwIfNoEntry: false });
    if (stat === undefined || entry.isDirectory()) return [];
    const { name } = entry;
    return [{ path: path.join(folder.path, name), below, name, stat, isLink: !stat.isFile(), isBesideLink }];
  });
  if (below.length === 2 || (below.length === 1 && files.length > 0)) return files;
  for (const { name } of entries.filter((entry) => entry.isDirectory()))
    within(folder, name, (inner) => {
      append(files, filesBelow(inner, [...below, name]));
    });
  return files;
}

/** Also removes folders that are then empty. `isMine`: whether what this user owns may be removed. Throws OutputError. */
export function removeFiles(
  folder: HeldFolder,
  files: readonly OldFile[],
  isMine: (uid: number) => boolean,
  depth = 0,
): void {
  for (const file of files.filter(({ below }) => below.length === depth)) remove(folder, file);
  const deeper = files.filter(({ below }) => below.length > depth);
  for (const name of new Set(deeper.map(({ below }) => below[depth]!))) {
    within(folder, name, (inner) => {
      const inside = deeper.filter(({ below }) => below[depth] === name);
      removeFiles(inner, inside, isMine, depth + 1);
      if (!isMine(inner.stat.uid)) return;
      try {
        rmdirSync(folder.at(name));
      } catch (error) {
        if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error)))
          complain(`${inner.path}: ${reason(error)}`);
      }
    });
  }
}

/** A job that starts again under the same name replaces the file: then it stays. */
function remove(folder: HeldFolder, { name, path: shown, stat }: OldFile): void {
  try {
    const now = lstatSync(folder.at(name), { throwIfNoEntry: false });
    if (now?.dev !== stat.dev || now.ino !== stat.ino || now.mtimeMs !== stat.mtimeMs) return;
    unlinkSync(folder.at(name));
  } catch (error) {
    const advice = 'run this as the owner, on a host that may write there';
    throw new OutputError(shown, `cannot be removed: ${reason(error)}`, advice, { cause: error });
  }
}

/** A folder that is gone, may not be read or has become a link is left alone. */
function within(folder: HeldFolder, name: string, use: (inner: HeldFolder) => void): void {
  let inner: HeldFolder;
  try {
    inner = folder.folder(name);
  } catch (error) {
    if (codeOf(error) === '') throw error;
    if (codeOf(error) !== 'ENOENT')
      complain(`${path.join(folder.path, name)}: ${reason(error)}; it is left alone`);
    return;
  }
  try {
    use(inner);
  } finally {
    inner.close();
  }
}
