/** Reads the header of a zstd frame (RFC 8878) without decompressing the frame. */

const MAGIC = 0xfd2fb528;

/** Length of the first of several frames (RFC 8878, 3.1.1). null: the bytes are no frame, or the frame is cut. */
export function frameBytes(frames: Uint8Array): number | null {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.length);
  const header = frameHeader(frames);
  if (header === null) return null;
  let at = header.bytes;
  for (;;) {
    if (at + 3 > frames.length) return null;
    const block = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
    const isRunLength = ((block >> 1) & 3) === 1;
    at += 3 + (isRunLength ? 1 : block >> 3);
    if ((block & 1) === 1) break;
  }
  at += header.hasChecksum ? 4 : 0;
  return at <= frames.length ? at : null;
}

/** The decompressed size that a frame's header states (RFC 8878, 3.1.1.1). null: the bytes are no frame, or the header states no size. */
export const claimedSize = (frame: Uint8Array): number | null => frameHeader(frame)?.size ?? null;

interface FrameHeader {
  readonly bytes: number;
  /** null: the header does not state it. */
  readonly size: number | null;
  readonly hasChecksum: boolean;
}

function frameHeader(frame: Uint8Array): FrameHeader | null {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  if (frame.length < 6 || view.getUint32(0, true) !== MAGIC) return null;
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const windowBytes = isSingleSegment ? 0 : 1;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const at = 5 + windowBytes + dictionaryBytes;
  const bytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  if (at + bytes > frame.length) return null;
  return { bytes: at + bytes, size: sizeField(view, at, bytes), hasChecksum: (descriptor & 4) !== 0 };
}

function sizeField(view: DataView, at: number, bytes: number): number | null {
  if (bytes === 0) return null;
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
