/**
 * Where the bytes of a rank file come from: a file read by position, or memory (tests, the addon's map). A read returns the bytes that the
 * file has. So a live file that shrinks, or a copy cut short, gives a short read and no exception.
 */

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

import { RankFileError } from '../base/errors.js';
import { codeOf, reason } from '../base/reason.js';
import { answered } from './stalls.js';

export interface ByteSource {
  readonly path: string;
  readonly bytes: number;
  /** `into`: memory of that length, which the source may use for the result. */
  read(offset: number, length: number, into?: Uint8Array): Uint8Array;
  /** Bytes that are not holes; undefined: not known. A hole reads as zeros. */
  readonly allocated?: number;
  /** What was found beside the file but could not be used. */
  readonly problem?: string;
}

export function memorySource(path: string, content: Uint8Array): ByteSource {
  return {
    path,
    bytes: content.length,
    // A copy, not a Buffer, because slice() of a Buffer is a view of the same bytes.
    read: (offset, length) => new Uint8Array(content.subarray(offset, offset + length)),
  };
}

export interface ClosableSource extends ByteSource {
  /** Call it once. */
  readonly close: () => void;
}

/** This one file and nothing beside it. */
export const openFile = (path: string): ClosableSource => descriptorSource(path, openRegularFile(path));

/** Takes over `file`: closing the source closes it. */
export function descriptorSource(path: string, file: number): ClosableSource {
  const close = (): void => {
    answered(path, () => {
      closeSync(file);
    });
  };
  return { ...fileSource(path, file), close };
}

function fileSource(path: string, file: number): ByteSource {
  const { size: bytes, blocks } = fstatSync(file);
  return {
    path,
    bytes,
    allocated: blocks * 512,
    read(offset, length, into) {
      const wanted = Math.max(0, Math.min(length, bytes - offset));
      const buffer = into?.subarray(0, wanted) ?? new Uint8Array(wanted);
      let done = 0;
      while (done < wanted) {
        const got = readOrExplain(path, file, buffer, done, offset + done);
        if (got === 0) break;
        done += got;
      }
      return done === wanted ? buffer : buffer.slice(0, done);
    },
  };
}

/** Bytes per read. Each read has the full time limit, so a slow disk is not taken for a hung one (stalls.ts). */
const PIECE = 4 << 20;

function readOrExplain(path: string, file: number, into: Uint8Array, at: number, position: number): number {
  try {
    const length = Math.min(PIECE, into.length - at);
    return answered(path, () => readSync(file, into, at, length, position));
  } catch (error) {
    throw new RankFileError(
      {
        path,
        what: `cannot be read: ${reason(error)}`,
        offset: position,
        advice: 'copy it to a healthy disk',
      },
      { cause: error },
    );
  }
}

/** Looks at the kind before opening, because opening a pipe would wait for its writer. */
function openRegularFile(path: string): number {
  try {
    const stat = answered(path, () => statSync(path));
    if (stat.isFile()) return answered(path, () => openSync(path, 'r'));
    if (!stat.isDirectory()) throw notARegularFile(path);
  } catch (error) {
    if (error instanceof RankFileError) throw error;
    throw new RankFileError({ path, what: openFault(error), advice: openAdvice(error) }, { cause: error });
  }
  throw new RankFileError({
    path,
    what: 'is a directory, and one rank file was asked for',
    advice: 'name the files in it, or give the directory to a command that takes directories',
  });
}

function notARegularFile(path: string): RankFileError {
  return new RankFileError({ path, what: 'is not a regular file', advice: 'name a rank file (rank*.bin)' });
}

function openFault(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user';
  return `cannot be opened: ${reason(error)}`;
}

function openAdvice(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM')
    return 'rank files are private to the user of the job (mode 0600): run as that user, or ask for a copy';
  return 'check the path; rank files lie in NCCL_TRACE_DIR/<run>/rank*.bin';
}
