/**
 * Copies a rank file in use without stopping the job: first the rings from the ring file or the rank file, then the chunks. So records that
 * the recorder moves from ring to chunk meanwhile are in at least one of them. Slots that a producer overwrites during the copy show as a
 * gap, as in any copy.
 */

import { closeSync, openSync, statSync, writeSync } from 'node:fs';

import * as format from './format/constants.js';
import { crc32 } from './format/crc32.js';
import { type ByteSource, openFile } from './byte_source.js';
import { openSource } from './rank_file_source.js';
import { readHeader } from './header.js';
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
const PIECE = 2 ** 20;
const LARGEST_HOLE = 2 ** 30;

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
        bytes: write(to, file, rings, layout.chunksOffset),
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

function write(to: string, file: ByteSource, rings: ByteSource, border: number): number {
  const out = openSync(to, 'wx', 0o600);
  try {
    const end = border === 0 ? file.bytes : border;
    // One read takes the shortest time, so the fewest slots are overwritten meanwhile.
    const image = rings.read(0, end);
    const now = BigInt(Date.now()) * 1_000_000n;
    sayCopied(image, now, rings !== file);
    if (border !== 0) beginAtBorder(image, border);
    writeAll(out, image, 0);
    const chunks = border === 0 ? 0 : copyChunks(out, file.path, border);
    return image.length + chunks;
  } finally {
    closeSync(out);
  }
}

/** On a nearly full disk a write may write only a part. Then the next write gives the error. */
function writeAll(out: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length;) {
    const wrote = writeSync(out, bytes, done, bytes.length - done, at + done);
    if (wrote === 0) throw new Error('the disk is full');
    done += wrote;
  }
}

/** Records the time of the copy. If the rings came from a ring file, it also records that they are now in this file. */
function sayCopied(image: Uint8Array, realtime: bigint, fromElsewhere: boolean): void {
  const view = new DataView(image.buffer, image.byteOffset, image.length);
  view.setBigUint64(H.snapshotRealtime, realtime, true);
  if (fromElsewhere) {
    view.setUint32(H.placement, format.Placement.InFile, true);
    view.setUint32(H.copyIntervalMs, 0, true);
    view.setBigUint64(H.copiedTick, 0n, true);
  }
  view.setUint32(H.headerCrc, 0, true);
  view.setUint32(H.headerCrc, crc32(image.subarray(0, format.HEADER_FIXED_BYTES)), true);
}

/**
 * After the header was read, the writer may have put chunks before the oldest one. Everything from the border on is copied, so the walk
 * begins at the border, unless the hole is too large for readers to cross. A writer does not go back over such a hole either.
 */
function beginAtBorder(image: Uint8Array, border: number): void {
  const view = new DataView(image.buffer, image.byteOffset, image.length);
  const begin = view.getBigUint64(H.chunksBegin, true);
  if (begin < BigInt(border) + BigInt(LARGEST_HOLE)) view.setBigUint64(H.chunksBegin, 0n, true);
}

/** Holes stay holes. It reads and writes, because after a copy by reference the job's next store would copy its page. */
function copyChunks(out: number, path: string, border: number): number {
  const file = openFile(path); // opened again for its current length
  try {
    let copied = 0;
    for (let at = border; at < file.bytes; at += PIECE) {
      const piece = file.read(at, PIECE);
      if (!piece.some((byte) => byte !== 0)) continue;
      writeAll(out, piece, at);
      copied += piece.length;
    }
    return copied;
  } finally {
    file.close();
  }
}
