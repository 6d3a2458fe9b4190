/** Splits concatenated zstd frames (RFC 8878, 3.1.1). */

import { decompressFrame } from '../../../src/rankfile/zstd.js';

/** The joined content of all frames. Throws if bytes are no valid frame. */
export function unpackFrames(packed: Buffer): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < packed.length;) {
    const [size, end] = frameAt(packed, at);
    const part = decompressFrame(packed.subarray(at, end), size);
    if (part === null) throw new Error(`no zstd frame at ${at}`);
    parts.push(part);
    at = end;
  }
  return Buffer.concat(parts);
}

/** The content size of the frame at `start`, and its end. Only for frames without a dictionary. */
function frameAt(packed: Buffer, start: number): [size: number, end: number] {
  const descriptor = packed[start + 4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  let at = start + 5 + (isSingleSegment ? 0 : 1);
  const size = packed.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  at += sizeBytes;
  for (let isLast = false; !isLast;) {
    const block = packed.readUIntLE(at, 3);
    isLast = block % 2 === 1;
    const isRepeatedByte = ((block >> 1) & 3) === 1;
    at += 3 + (isRepeatedByte ? 1 : block >> 3);
  }
  return [size, at + ((descriptor & 4) === 0 ? 0 : 4)];
}
