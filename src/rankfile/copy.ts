/**
 * Copies the bytes of a rank file in pieces. Holes stay holes. A sparse file may claim to be as large as it likes, so a copy ends where
 * readers would not look any further. It reads and writes, because after a copy by reference the job's next store would copy its page.
 */

import { ftruncateSync, writeSync } from 'node:fs';
import { RankFileError } from '../base/errors.js';
import type { ByteSource } from './byte_source.js';
import type { HeaderLayout } from './header.js';

/** Readers do not look for chunks beyond so many bytes without one (chunk_index.ts). */
const LARGEST_HOLE = 2 ** 30;
/** Nothing may be read as zeros where nothing is, beyond so much: recorders reserve their rings. */
const LARGEST_GAP = 2 ** 30;
/** One read of the rings of nearly all jobs: it takes the shortest time, so the fewest slots are overwritten meanwhile. */
const AT_ONCE = 64 << 20;
const PIECE = 1 << 20;
const PAGE = 4096;
const ZEROS = new Uint8Array(PIECE);

/** Bytes [0, end). Throws RankFileError, and the system's errors of writing. */
export function copyRings(source: ByteSource, out: number, end: number): number {
  const until = Math.min(end, source.bytes);
  ftruncateSync(out, until);
  const memory = new Uint8Array(Math.min(AT_ONCE, until));
  const { allocated = until } = source;
  let copied = 0;
  let data = 0;
  // What is left when all that was ever written is copied is a hole.
  for (let at = 0; at < until && data < allocated; at += AT_ONCE) {
    const bytes = source.read(at, Math.min(AT_ONCE, until - at), memory);
    copied += writeData(out, bytes, at);
    data += dataIn(bytes);
    if (at + bytes.length - copied > allocated + LARGEST_GAP)
      throw new RankFileError({
        path: source.path,
        what: 'has more than 1 GiB of nothing before its chunks, as no recorder leaves it',
        offset: at,
        advice: 'ask for the original file: this one was damaged, or made by something else',
      });
  }
  return copied;
}

/** Bytes of pages that have anything in them. They cannot be holes. */
function dataIn(bytes: Uint8Array): number {
  let data = 0;
  for (let at = 0; at < bytes.length; at += PAGE) if (!isNothing(bytes.subarray(at, at + PAGE))) data += PAGE;
  return data;
}

const isNothing = (bytes: Uint8Array): boolean =>
  Buffer.compare(bytes, ZEROS.subarray(0, bytes.length)) === 0;

/** Where the walk over the chunks begins: at the oldest one, if there is a hole before it that the walk would not cross. */
export const isBehindHole = ({
  chunksBegin,
  chunksOffset,
}: Pick<HeaderLayout, 'chunksBegin' | 'chunksOffset'>): boolean => chunksBegin >= chunksOffset + LARGEST_HOLE;

/** All chunks that a reader finds. */
export function copyChunks(source: ByteSource, out: number, layout: HeaderLayout): number {
  const begin = isBehindHole(layout) ? layout.chunksBegin : layout.chunksOffset;
  const oldest = Math.max(begin, Math.min(layout.chunksBegin, source.bytes));
  let copied = 0;
  for (let at = begin, seen = oldest; at < source.bytes && at - seen <= LARGEST_HOLE; at += PIECE) {
    const wrote = writeData(out, source.read(at, PIECE), at);
    copied += wrote;
    if (wrote > 0) seen = Math.max(seen, at + PIECE);
  }
  return copied;
}

/** Returns how many bytes are not in pieces of nothing. */
function writeData(out: number, bytes: Uint8Array, at: number): number {
  let wrote = 0;
  for (let from = 0; from < bytes.length; from += PIECE) {
    const piece = bytes.subarray(from, from + PIECE);
    if (isNothing(piece)) continue;
    writeAll(out, piece, at + from);
    wrote += piece.length;
  }
  return wrote;
}

/** On a nearly full disk a write may write only a part. Then the next write gives the error. */
export function writeAll(out: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    const wrote = writeSync(out, bytes, done, bytes.length - done, at + done);
    if (wrote === 0) throw new Error('the disk is full');
    done += wrote;
  }
}
