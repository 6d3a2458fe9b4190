/** Compression of the trace, chosen by the end of its name. Pieces are compressed one by one and concatenated. */

import { gzipSync } from 'node:zlib';
import { compressFrame } from '../rankfile/zstd.js';

export type Compression = 'none' | 'gzip' | 'zstd';

export function compressionOf(path: string): Compression {
  if (path.endsWith('.gz')) return 'gzip';
  return path.endsWith('.zst') ? 'zstd' : 'none';
}

/** A gzip member, or zstd frames of at most 4 MiB each. Small frames take little memory to compress and to decompress. */
export function compressed(piece: Uint8Array, compression: Compression): Uint8Array {
  switch (compression) {
    case 'none':
      return piece;
    case 'gzip':
      return gzipSync(piece);
    case 'zstd':
      return frames(piece);
  }
}

const FRAME_BYTES = 4 << 20;

function frames(piece: Uint8Array): Uint8Array {
  const packed: Uint8Array[] = [];
  for (let at = 0; at < piece.length; at += FRAME_BYTES)
    packed.push(compressFrame(piece.subarray(at, at + FRAME_BYTES)));
  return Buffer.concat(packed);
}
