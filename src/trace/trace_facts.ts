/** What a trace says of itself: its attributes, read back from the start of its file, and whether the end is there that they announce. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { gunzipSync, constants } from 'node:zlib';
import { Decompress } from 'fzstd';
import { windowBytes } from '../base/zstd_frame.js';
import { fileStart } from '../output/file_start.js';
import { beginsAsTrace, PACKET_TAG, readAttributes } from './perfetto/attributes.js';
import { announcedPacket } from './perfetto/last_packet.js';

/** The attributes are in the first packets, so this much of a trace holds them, packed or not. */
const HEAD_BYTES = 5 << 20;
/** At most 64 MiB uncompressed: gzip's best ratio is 1032. */
const GZIP_HEAD_BYTES = 60 << 10;
const GZIP_MOST_BYTES = 64 << 20;
const ZSTD_PIECE_BYTES = 64 << 10;
/** What `zstd -d` takes, too, without more options. */
const MOST_WINDOW_BYTES = 128 << 20;
/** Contains the last packet, which is compressed by itself: nothing before it has to be unpacked. */
const TAIL_BYTES = 256;
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b, 8);
const ZSTD_MAGIC = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

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

/** What to tell the user if the last packet is missing that the first ones announce. null: it is there, or none is announced. */
export function howCut(path: string): string | null {
  const facts = traceFacts(path);
  const last = facts === null ? null : announcedPacket(facts);
  if (last === null || endsWith(tailOf(path), last)) return null;
  const isPlain = fileStart(path, 1)[0] === PACKET_TAG;
  const cause = isPlain
    ? 'it was cut'
    : 'it was cut (or packed by another program: then unpack it to be sure)';
  return `the end of this trace is missing: ${cause}; ranks may be missing, and work may look as if it hung; copy or merge it again`;
}

const headOf = (path: string): Buffer => fileStart(path, HEAD_BYTES);

function tailOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(TAIL_BYTES);
    const from = Math.max(0, fstatSync(file).size - TAIL_BYTES);
    return bytes.subarray(0, readSync(file, bytes, 0, TAIL_BYTES, from));
  } finally {
    closeSync(file);
  }
}

/** Also if the packet is the last gzip member, or the last zstd frame. */
function endsWith(tail: Buffer, packet: Uint8Array): boolean {
  if (tail.subarray(-packet.length).equals(packet)) return true;
  for (const magic of [GZIP_MAGIC, ZSTD_MAGIC])
    for (let at = tail.indexOf(magic); at >= 0; at = tail.indexOf(magic, at + 1)) {
      const last = unpacked(tail.subarray(at), constants.Z_FINISH);
      if (last !== null && Buffer.from(last).equals(packet)) return true;
    }
  return false;
}

/** How the content begins. null: it is packed and damaged. With Z_SYNC_FLUSH the last gzip member may be cut, as the last zstd frame may be. */
function unpacked(head: Buffer, finishFlush: number = constants.Z_SYNC_FLUSH): Uint8Array | null {
  try {
    if (head[0] === 0x1f && head[1] === 0x8b)
      return gunzipSync(head.subarray(0, GZIP_HEAD_BYTES), {
        finishFlush,
        maxOutputLength: GZIP_MOST_BYTES,
      });
    const window = windowBytes(head);
    if (window === null) return head;
    return window <= MOST_WINDOW_BYTES ? beginningOfZstd(head) : null;
  } catch {
    return null;
  }
}

/** HEAD_BYTES of what the frames hold, or all. They may be anybody's: merge's, one frame of a whole trace, frames without a size, pzstd's. */
function beginningOfZstd(packed: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const frames = new Decompress((part) => {
    parts.push(part);
    bytes += part.length;
    // A small piece may unpack to gigabytes.
    if (bytes > HEAD_BYTES) throw ENOUGH;
  });
  try {
    for (let at = 0; at < packed.length; at += ZSTD_PIECE_BYTES)
      frames.push(packed.subarray(at, at + ZSTD_PIECE_BYTES));
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  return Buffer.concat(parts);
}

const ENOUGH = new Error('enough is unpacked');
