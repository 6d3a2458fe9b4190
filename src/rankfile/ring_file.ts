/**
 * The ring file of a rank file holds the rings while the job runs. They are newer than the copy in the rank file. The path is in the rank
 * file's header, and a path from a file is not trusted. The ring file must lie in a folder of ring files that only one user can enter. It
 * must belong to the rank file's owner and to the same process, and must not be a link.
 */

import { constants, fstatSync, lstatSync, openSync } from 'node:fs';
import path from 'node:path';

import * as format from './format/constants.js';
import { type ClosableSource, descriptorSource } from './byte_source.js';
import { isSameProcess } from './saved_rings.js';

/** The source, or the reason why there is none. `bases`: folders above ring files, such as /dev/shm. */
export function openRingFile(
  ringPath: string,
  rankFile: { readonly header: Uint8Array; readonly owner: number },
  bases: readonly string[],
): ClosableSource | string {
  const folder = path.dirname(ringPath);
  const expected = bases.map((base) => path.join(base, `nccl-trace-${rankFile.owner}`));
  if (!expected.includes(folder) || !RING_NAME.test(path.basename(ringPath)))
    return `${ringPath} is not in ${expected.join(' or ')}`;
  try {
    const place = lstatSync(folder);
    if (!place.isDirectory() || place.uid !== rankFile.owner || (place.mode & 0o077) !== 0)
      return `${folder} is not private to the owner of the rank file`;
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = openSync(ringPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const source = descriptorSource(ringPath, file);
    const fault = faultOf(file, source, rankFile);
    if (fault === null) return source;
    source.close();
    return `${ringPath} ${fault}`;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return code === 'ENOENT' ? `${ringPath} is not here` : `${ringPath} cannot be opened (${code})`;
  }
}

const RING_NAME = /^\d+-\d+-\d+-[0-9a-f]{16}\.ring$/;

function faultOf(
  file: number,
  source: ClosableSource,
  { header, owner }: { readonly header: Uint8Array; readonly owner: number },
): string | null {
  const stat = fstatSync(file);
  if (!stat.isFile() || stat.uid !== owner) return 'does not belong to the owner of the rank file';
  const theirs = source.read(0, format.HEADER_BYTES);
  return theirs.length === format.HEADER_BYTES && isSameProcess(theirs, header)
    ? null
    : 'is of another process';
}
