/** The bytes of a rank file, with the rings that another recorder saved beside it or that its process left in memory. */

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { RankFileError } from '../base/errors.js';
import { type ByteSource, type ClosableSource, openFile } from './byte_source.js';
import * as format from './format/constants.js';
import { readAhead } from './read_ahead.js';
import { openRingsLeft } from './rings_left.js';
import { SAVED_RINGS, withSavedRings } from './saved_rings.js';

/** The rank file at `path` with its rings, wherever they are. The system's errors become RankFileErrors. */
export function openSource(path: string): ClosableSource {
  const own = readAhead(openFile(path));
  try {
    // In this order, because the second look finds rings that were saved after the first.
    const left = openRingsLeft(path, own);
    if (left !== null) return join(own, () => left);
    if (!mayBeFile(path + SAVED_RINGS)) return own;
    const beside = join(own, () => readAhead(openFile(path + SAVED_RINGS)));
    if (beside.problem === undefined) return beside;
    // Something else has the name, so they were saved under the next one.
    const other = otherName(path, own);
    if (other === null || !mayBeFile(other)) return beside;
    const found = join(own, () => readAhead(openFile(other)));
    return found.problem === undefined
      ? { ...found, problem: `${beside.problem}; those in ${basename(other)} are used` }
      : beside;
  } catch (error) {
    own.close();
    throw error;
  }
}

/** The rank file alone, with a problem, if the rings cannot be used. */
function join(own: ClosableSource, open: () => ClosableSource): ClosableSource {
  let rings: ClosableSource | null = null;
  try {
    rings = open();
    const joined = withSavedRings(own, rings);
    if (typeof joined !== 'string') return joinedSource(joined, own, rings);
    rings.close();
    return { ...own, problem: joined };
  } catch (error) {
    rings?.close();
    if (!(error instanceof RankFileError)) throw error;
    return { ...own, problem: `the saved rings beside it (.rings) cannot be used: ${error.what}` };
  }
}

/** rank00003.bin.rings → rank00003.<pid>.bin.rings: the second name that savers try. null: the file has no header yet. */
function otherName(path: string, own: ByteSource): string | null {
  const header = own.read(0, format.HEADER_BYTES);
  if (header.length < format.HEADER_BYTES) return null;
  const pid = new DataView(header.buffer, header.byteOffset).getUint32(format.FILE_HEADER.pid, true);
  return path.replace(/(\.bin)?$/, `.${pid}.bin${SAVED_RINGS}`);
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
