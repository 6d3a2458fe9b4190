/** The bytes of a rank file, with the rings that another recorder saved beside it or that its process left in memory. */

import { statSync } from 'node:fs';
import { RankFileError } from '../base/errors.js';
import { type ByteSource, type ClosableSource, openFile } from './byte_source.js';
import { readAhead } from './read_ahead.js';
import { openRingsLeft } from './rings_left.js';
import { SAVED_RINGS, withSavedRings } from './saved_rings.js';

/** The rank file at `path` with its rings, wherever they are. The system's errors become RankFileErrors. */
export function openSource(path: string): ClosableSource {
  const own = readAhead(openFile(path));
  let rings: ClosableSource | null = null;
  try {
    // In this order, because the second look finds rings that were saved after the first.
    rings =
      openRingsLeft(path, own) ??
      (mayBeFile(path + SAVED_RINGS) ? readAhead(openFile(path + SAVED_RINGS)) : null);
    if (rings === null) return own;
    const joined = withSavedRings(own, rings);
    if (typeof joined !== 'string') return joinedSource(joined, own, rings);
    rings.close();
    return { ...own, problem: joined };
  } catch (error) {
    rings?.close();
    if (error instanceof RankFileError)
      return { ...own, problem: `the saved rings beside it (.rings) cannot be used: ${error.what}` };
    own.close();
    throw error;
  }
}

function joinedSource(joined: ByteSource, own: ClosableSource, rings: ClosableSource): ClosableSource {
  const close = (): void => {
    own.close();
    rings.close();
  };
  return { ...joined, close };
}

/** Opens `path` during `use`. */
export function withFile<T>(path: string, use: (source: ByteSource) => T): T {
  const source = openSource(path);
  try {
    return use(source);
  } finally {
    source.close();
  }
}

/** True also if the system does not say it. Opening the file then gives the error. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return true;
  }
}
