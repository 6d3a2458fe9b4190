/**
 * Finds the rings that a process left in its ring file on this machine when it ended. They are there if no other recorder has saved them
 * yet, for example because all ranks of a node were killed at once. They are read like saved rings. The process must certainly have ended:
 * it belonged to this boot and pid namespace, and no process has its pid and start. The ring file must name this rank file, so a copy of
 * the rank file does not count.
 */

import { readlinkSync, realpathSync, statSync } from 'node:fs';

import * as format from './format/constants.js';
import { RankFileError } from '../base/errors.js';
import { type ByteSource, type ClosableSource, memorySource } from './byte_source.js';
import { readHeader, sayInFile, seal } from './header.js';
import { Problems } from './problems.js';
import { processNow } from './process_now.js';
import { openRingFile } from './ring_file.js';

const H = format.FILE_HEADER;
/** Folders above ring files. The user must name other folders: `snapshot --ring-dir`. */
const BASES = ['/dev/shm'];

/** null: there are no rings here, or they are not certainly the file's newest. */
export function openRingsLeft(path: string, file: ByteSource): ClosableSource | null {
  const bytes = file.read(0, format.HEADER_BYTES);
  if (!mayHaveLeft(bytes)) return null;
  try {
    const { header, layout } = readHeader(file, new Problems());
    if (processNow({ path, header }) !== 'gone') return null;
    const rings = openRingFile(header.ringPath, { header: bytes, owner: statSync(path).uid }, BASES);
    if (typeof rings === 'string') return null;
    let left: ClosableSource | null = null;
    try {
      const tail = rings.read(layout.chunksOffset, format.RING_FILE_TAIL_BYTES);
      if (isHome(path, tail)) left = asSaved(rings);
    } finally {
      if (left === null) rings.close();
    }
    return left;
  } catch (error) {
    if (error instanceof RankFileError || (error instanceof Error && 'code' in error)) return null;
    throw error;
  }
}

/** A quick check first, because for nearly all files the answer is no. */
function mayHaveLeft(header: Uint8Array): boolean {
  if (header.length < format.HEADER_BYTES) return false;
  const view = new DataView(header.buffer, header.byteOffset);
  return (
    view.getUint32(H.placement, true) === format.Placement.InRingFile &&
    view.getUint32(H.life, true) === format.Life.Recording
  );
}

/** The path in the ring file's tail is valid in one mount namespace. */
function isHome(path: string, tail: Uint8Array): boolean {
  if (tail.length < format.RING_FILE_TAIL_BYTES) return false;
  const bytes = Buffer.from(tail.buffer, tail.byteOffset, tail.length);
  const namespace = bytes.readBigUInt64LE(bytes.length - 8);
  const home = bytes.toString('utf8', 0, Math.max(0, bytes.indexOf(0)));
  return (
    readlinkSync('/proc/self/ns/mnt') === `mnt:[${namespace}]` && realpathSync(home) === realpathSync(path)
  );
}

/** The rings with the header of saved rings. Throws RankFileError if the ring file's own header is damaged. */
function asSaved(rings: ClosableSource): ClosableSource {
  const header = rings.read(0, format.HEADER_BYTES).slice();
  readHeader(memorySource(rings.path, header), new Problems());
  const view = new DataView(header.buffer);
  sayInFile(view);
  seal(header, view);
  return {
    ...rings,
    read(offset, length) {
      const bytes = rings.read(offset, length);
      if (offset >= header.length) return bytes;
      const patched = bytes.slice();
      patched.set(header.subarray(offset, offset + patched.length));
      return patched;
    },
  };
}
