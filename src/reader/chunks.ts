/**
 * Chunks (stream mode): the seam for them. This version reads none; it looks whether there are any and says so, so
 * that a stream-mode file is never taken for complete. Reading them will add rows in front of a ring's window:
 * each position once, from the chunk first.
 */

import * as format from '../format/constants.js';
import { crc32 } from '../format/crc32.js';
import type { ByteSource } from './byte_source.js';
import type { HeaderLayout } from './header.js';
import type { Problems } from './problems.js';

/** Places without a chunk header after which no more are looked at: 1 GiB. */
const MAX_PLACES = 2 ** 18;

/** Walks to the first chunk. Chunks are punched out from the front, so there may be a hole before it. */
export function noteChunks(source: ByteSource, layout: HeaderLayout, problems: Problems): void {
  if (layout.chunksOffset === 0) return;
  const first = firstPlace(source, layout);
  const end = Math.min(source.bytes, first + MAX_PLACES * format.CHUNK_ALIGNMENT);
  for (let at = first; at < end; at += format.CHUNK_ALIGNMENT) {
    if (!isChunkHeader(source.read(at, format.CHUNK_HEADER_BYTES), source.bytes - at)) continue;
    problems.add('stream-mode chunks, not read by this version: the records shown are the newest only');
    return;
  }
  if (end < source.bytes)
    problems.add('1 GiB without a stream-mode chunk where they should begin, not searched further');
}

/** chunks_begin is covered by no check: believed where a chunk can be. */
function firstPlace(source: ByteSource, { chunksBegin, chunksOffset }: HeaderLayout): number {
  const canBegin = chunksBegin % format.CHUNK_ALIGNMENT === 0;
  if (canBegin && chunksBegin >= chunksOffset && chunksBegin < source.bytes) return chunksBegin;
  return Math.ceil(chunksOffset / format.CHUNK_ALIGNMENT) * format.CHUNK_ALIGNMENT;
}

/** `rest`: bytes of the file from the header on. */
function isChunkHeader(bytes: Uint8Array, rest: number): boolean {
  if (bytes.length < format.CHUNK_HEADER_BYTES) return false;
  const C = format.CHUNK_HEADER;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(C.magic, true) !== format.CHUNK_MAGIC) return false;
  const rawBytes = view.getUint32(C.rawBytes, true);
  const slots = view.getBigUint64(C.endPosition, true) - view.getBigUint64(C.firstPosition, true);
  if (rawBytes > format.MAX_CHUNK_RAW_BYTES || slots * BigInt(format.SLOT_BYTES) !== BigInt(rawBytes))
    return false;
  if (format.CHUNK_HEADER_BYTES + view.getUint32(C.storedBytes, true) > rest) return false;
  const unchecked = bytes.slice();
  unchecked.fill(0, C.headerCrc, C.headerCrc + 4);
  return crc32(unchecked) === view.getUint32(C.headerCrc, true);
}
