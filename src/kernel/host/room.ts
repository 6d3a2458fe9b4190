/**
 * How much memory a file may take in the kernel. A recorded file takes a few times its size: its rings as they are, and some 800 bytes for
 * each work, which has 10 bytes at least in a compressed chunk. A chunk made to be unpacked takes hundreds of times its size.
 */

import { RankFileError } from '../../base/errors.js';
import { memoryLimit } from './memory_limit.js';
import type { FileFacts } from '../../rankfile/file_types.js';

/** For the rings of the smallest file: 63 of them take a chunk and two tables each. */
const LEAST = 96 * 2 ** 20;
/** Per byte of the file. */
const PER_BYTE = 64;

const LESS = 'look at a part of the run with --from and --to';

type Sized = Pick<FileFacts, 'path' | 'bytes'>;

export const roomFor = ({ bytes }: Sized): number => memoryLimit() ?? LEAST + PER_BYTE * bytes;

export const noRoomFor =
  ({ path, bytes }: Sized) =>
  (needed: number): never => {
    const MiB = Math.floor(needed / 2 ** 20);
    const what = `its records need more than ${MiB} MiB of memory`;
    if (needed <= roomFor({ path, bytes }))
      throw new RankFileError({
        path,
        what: `${what}, and this process may have no more addresses (ulimit -v)`,
        advice: `raise the limit, or ${LESS}`,
      });
    const allowed = memoryLimit();
    if (allowed !== undefined)
      throw new RankFileError({
        path,
        what: `its records need more than the ${allowed} bytes of memory that --max-memory allows`,
        advice: `allow more, or ${LESS}`,
      });
    throw new RankFileError({
      path,
      what: `${what}, too much for a file of ${bytes} bytes`,
      why: 'no recorder wrote it',
      advice: `if one did, allow more with --max-memory, or ${LESS}`,
    });
  };
