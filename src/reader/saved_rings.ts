/**
 * Rings that were saved beside a rank file. Where the rings of a process lie outside its rank file, a recorder of the same
 * node that finds the process gone copies them to `<rank file>.rings`. Whoever opens the rank file then sees one file: all
 * before chunks_offset from the saved rings, chunks from the rank file. The rules are in schemas/rank-file.md.
 */

import * as format from '../format/constants.js';
import type { ByteSource } from './byte_source.js';

const H = format.FILE_HEADER;

export const SAVED_RINGS = '.rings';

/** Two sources as one, or what is wrong with the second. */
export function withSavedRings(file: ByteSource, rings: ByteSource): ByteSource | string {
  const theirs = rings.read(0, format.HEADER_BYTES);
  const ours = file.read(0, format.HEADER_BYTES);
  if (!hasBegun(theirs)) return `${rings.path} is not complete: who saved it did not finish`;
  // A process that died before it had written its rank file's header: there is nothing to compare.
  if (hasBegun(ours) && !isSameProcess(ours, theirs))
    return `${rings.path} belongs to another process than the file beside it`;
  const view = new DataView(theirs.buffer, theirs.byteOffset, theirs.length);
  const border = Number(view.getBigUint64(H.chunksOffset, true));
  return {
    path: file.path,
    bytes: Math.max(file.bytes, Math.min(border, rings.bytes)),
    read(offset, length) {
      if (offset >= border) return file.read(offset, length);
      const before = rings.read(offset, Math.min(length, border - offset));
      if (offset + length <= border || offset + before.length < border) return before;
      const behind = file.read(border, offset + length - border);
      const all = new Uint8Array(before.length + behind.length);
      all.set(before);
      all.set(behind, before.length);
      return all;
    },
  };
}

const hasBegun = (header: Uint8Array): boolean =>
  header.length === format.HEADER_BYTES &&
  new DataView(header.buffer, header.byteOffset).getUint32(H.life, true) !== format.Life.Creating;

/** Tag, boot, process, counter and beginning: [tag, rank). */
export const isSameProcess = (a: Uint8Array, b: Uint8Array): boolean =>
  Buffer.compare(a.subarray(H.tag, H.rank), b.subarray(H.tag, H.rank)) === 0;
