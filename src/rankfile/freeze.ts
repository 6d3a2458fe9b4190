/**
 * Makes a private copy of a rank file that may still be written. A merge reads a file twice and counts works, calls and operations in both
 * passes. If the ring moved between the passes, events would get the ends of others. The copy is no snapshot (snapshot.ts): its header does
 * not change, so the verdict is the same as without the copy.
 */

import { closeSync, ftruncateSync, openSync, statSync } from 'node:fs';
import { RankFileError } from '../base/errors.js';
import { type ByteSource, type ClosableSource, openFile } from './byte_source.js';
import { copyChunks, copyRings } from './copy.js';
import { type HeaderLayout, readHeader } from './header.js';
import { Problems } from './problems.js';
import { openRankFileTables } from './rank_file.js';
import { openRingsLeft } from './rings_left.js';
import { SAVED_RINGS } from './saved_rings.js';

/** ms. The recorder writes a heartbeat once a second, and the clocks of other hosts may be wrong. An unnecessary copy only costs time. */
const RECENT = 60_000;

/** Whether the process may still write the file: the file is not closed, and its heartbeat or its last change is less than a minute old. */
export function mayBeWritten(path: string): boolean {
  const { header, heartbeat } = openRankFileTables(path);
  if (header.life === 'closed' || header.snapshotRealtime !== null) return false;
  const isRecent = (ms: number): boolean => Math.abs(Date.now() - ms) < RECENT;
  return (
    isRecent(statSync(path).mtimeMs) ||
    (heartbeat !== null && isRecent(Number(heartbeat.realtime / 1_000_000n)))
  );
}

/**
 * Copies the file, and the rings that were saved beside it or left in memory. `to` must not exist. Copies from front to back, so rings come
 * before chunks, as readers read them. Throws RankFileError.
 */
export function freeze(path: string, to: string): void {
  try {
    const file = openFile(path);
    try {
      const rings = openRingsLeft(path, file);
      copy(file, to);
      // Rings that were left in memory may have been saved meanwhile. Both have the same content.
      if (rings !== null) copyAndClose(rings, to + SAVED_RINGS);
      else if (statSync(path + SAVED_RINGS, { throwIfNoEntry: false })?.isFile())
        copyAndClose(openFile(path + SAVED_RINGS), to + SAVED_RINGS);
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof RankFileError || !(error instanceof Error)) throw error;
    throw new RankFileError(
      {
        path,
        what: `may still be written, and cannot be copied before it is read: ${error.message.split(',')[0]}`,
        advice: 'make room where the output goes, or merge a copy made by "nccl-trace snapshot"',
      },
      { cause: error },
    );
  }
}

function copy(file: ByteSource, to: string): void {
  const out = openSync(to, 'wx', 0o600);
  try {
    const layout = layoutOf(file);
    const border = layout?.chunksOffset ?? 0;
    copyRings(file, out, border === 0 ? file.bytes : border);
    if (layout !== null && border !== 0) copyChunks(file, out, layout);
    ftruncateSync(out, file.bytes);
  } finally {
    closeSync(out);
  }
}

/** null: saved rings that are not complete. */
function layoutOf(file: ByteSource): HeaderLayout | null {
  try {
    return readHeader(file, new Problems()).layout;
  } catch (error) {
    if (error instanceof RankFileError) return null;
    throw error;
  }
}

function copyAndClose(file: ClosableSource, to: string): void {
  try {
    copy(file, to);
  } finally {
    file.close();
  }
}
