/** What a trace says of itself: the attributes at its beginning, read back from the file alone. */

import { closeSync, openSync, readSync } from 'node:fs';
import { gunzipSync, constants } from 'node:zlib';
import { claimedSize, frameBytes } from '../base/zstd_frame.js';
import { decompressFrame } from '../rankfile/zstd.js';
import { beginsAsTrace, readAttributes } from './perfetto/attributes.js';

/** Holds the first frame of a packed trace, which merge makes of 4 MiB at most. The attributes are its very first bytes. */
const HEAD_BYTES = 5 << 20;
/** So much of a gzip file gives at most 64 MiB: gzip packs to a 1032nd at best. */
const GZIP_HEAD_BYTES = 60 << 10;
/** More than merge ever puts into one frame. */
const FRAME_BYTES = 64 << 20;

/** Null: not a trace that `merge` has written, as far as its beginning tells. Throws the system's own errors. */
export function traceFacts(path: string): ReadonlyMap<string, string> | null {
  const bytes = unpacked(headOf(path));
  if (bytes === null) return null;
  const facts = readAttributes(bytes);
  return facts.has('nccl_trace.ranks') ? facts : null;
}

/** Any program's trace, as far as its beginning tells. Throws the system's own errors. */
export function isTrace(path: string): boolean {
  const bytes = unpacked(headOf(path));
  return bytes !== null && beginsAsTrace(bytes);
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** The beginning of what is packed; null: packed and damaged. */
function unpacked(head: Buffer): Uint8Array | null {
  try {
    if (head[0] === 0x1f && head[1] === 0x8b)
      return gunzipSync(head.subarray(0, GZIP_HEAD_BYTES), {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: FRAME_BYTES,
      });
    const size = claimedSize(head);
    if (size === null) return head;
    const end = frameBytes(head);
    return end !== null && size <= FRAME_BYTES ? decompressFrame(head.subarray(0, end), size) : null;
  } catch {
    return null;
  }
}
