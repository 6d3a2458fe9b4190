/** The attributes of a trace, read back from the start of its file. */

import { closeSync, openSync, readSync } from 'node:fs';
import { gunzipSync, constants } from 'node:zlib';
import { claimedSize, frameBytes } from '../base/zstd_frame.js';
import { decompressFrame } from '../rankfile/zstd.js';
import { beginsAsTrace, readAttributes } from './perfetto/attributes.js';

/** Contains the first frame of a compressed trace (at most 4 MiB). The attributes are its first bytes. */
const HEAD_BYTES = 5 << 20;
/** At most 64 MiB uncompressed: gzip's best ratio is 1032. */
const GZIP_HEAD_BYTES = 60 << 10;
/** Above any frame of merge. */
const FRAME_BYTES = 64 << 20;

/** Null: the start of the file shows that `merge` did not write it. Throws the system's own errors. */
export function traceFacts(path: string): ReadonlyMap<string, string> | null {
  const bytes = unpacked(headOf(path));
  if (bytes === null) return null;
  const facts = readAttributes(bytes);
  return facts.has('nccl_trace.ranks') ? facts : null;
}

/** Whether the file begins like a trace, of any program. Throws the system's own errors. */
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

/** The start, decompressed. null: it is compressed and damaged. */
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
