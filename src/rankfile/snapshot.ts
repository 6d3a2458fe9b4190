/**
 * Copies a rank file in use without stopping the job: first the rings from the ring file or the rank file, then the chunks. So records that
 * the recorder moves from ring to chunk meanwhile are in at least one of them. Slots that a producer overwrites during the copy show as a
 * gap, as in any copy.
 */

import { closeSync, openSync, statSync, unlinkSync } from 'node:fs';

import * as format from './format/constants.js';
import { type ByteSource, openFile } from './byte_source.js';
import { openSource } from './rank_file_source.js';
import { copyChunks, copyRings, isBehindHole, writeAll } from './copy.js';
import { type HeaderLayout, readHeader, sayInFile, seal } from './header.js';
import { Problems } from './problems.js';
import { openRingFile } from './ring_file.js';

export interface Snapshot {
  readonly bytes: number;
  /** The source of its rings. */
  readonly rings: 'rank file' | 'ring file' | 'copy in the rank file';
  /** For a copy: why the ring file was not used. */
  readonly why: string | null;
}

const H = format.FILE_HEADER;

/** `to` must not exist. Throws RankFileError for other files, and the system's errors of writing. */
export function takeSnapshot(from: string, to: string, bases: readonly string[]): Snapshot {
  const file = openSource(from);
  try {
    const { header, layout } = readHeader(file, new Problems());
    const bytes = file.read(0, format.HEADER_BYTES);
    const owner = statSync(from).uid;
    const live =
      header.placement === 'in-ring-file'
        ? openRingFile(header.ringPath, { header: bytes, owner }, bases)
        : null;
    const isCopy = header.placement !== 'in-file' && (live === null || typeof live === 'string');
    try {
      const rings = live === null || typeof live === 'string' ? file : live;
      return {
        bytes: write(to, file, rings, layout),
        rings: isCopy ? 'copy in the rank file' : rings === file ? 'rank file' : 'ring file',
        why: typeof live === 'string' ? live : isCopy ? 'its rings are in memory of the process' : null,
      };
    } finally {
      if (live !== null && typeof live !== 'string') live.close();
    }
  } finally {
    file.close();
  }
}

function write(to: string, file: ByteSource, rings: ByteSource, layout: HeaderLayout): number {
  const out = openSync(to, 'wx', 0o600);
  try {
    const border = layout.chunksOffset;
    const header = rings.read(0, format.HEADER_BYTES).slice();
    const copied = copyRings(rings, out, border === 0 ? file.bytes : border);
    sayCopied(header, BigInt(Date.now()) * 1_000_000n, rings !== file);
    if (border !== 0) beginAtBorder(header, border);
    writeAll(out, header, 0);
    return copied + (border === 0 ? 0 : copyNewestChunks(file.path, out, layout));
  } catch (error) {
    unlinkSync(to); // ours, because it did not exist
    throw error;
  } finally {
    closeSync(out);
  }
}

/** The file has grown since it was opened. */
function copyNewestChunks(path: string, out: number, layout: HeaderLayout): number {
  const file = openFile(path);
  try {
    return copyChunks(file, out, layout);
  } finally {
    file.close();
  }
}

/** Records the time of the copy. If the rings came from a ring file, it also records that they are now in this file. */
function sayCopied(header: Uint8Array, realtime: bigint, fromElsewhere: boolean): void {
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  view.setBigUint64(H.snapshotRealtime, realtime, true);
  if (fromElsewhere) sayInFile(view);
  seal(header, view);
}

/**
 * After the header was read, the writer may have put chunks before the oldest one. Everything from the border on is copied, so the walk
 * begins at the border, unless the hole is too large for readers to cross. A writer does not go back over such a hole either.
 */
function beginAtBorder(header: Uint8Array, border: number): void {
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  const chunksBegin = Number(view.getBigUint64(H.chunksBegin, true));
  if (!isBehindHole({ chunksBegin, chunksOffset: border })) view.setBigUint64(H.chunksBegin, 0n, true);
}
