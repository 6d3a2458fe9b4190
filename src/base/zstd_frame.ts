/** Reads the header of a zstd frame (RFC 8878) without decompressing the frame. */

const MAGIC = 0xfd2fb528;
/** A frame that decoders skip begins with this; its writer chooses the low four bits. */
const SKIPPABLE_MAGIC = 0x184d2a50;

/** The decompressed size that a frame's header states (RFC 8878, 3.1.1.1). null: the bytes are no frame, or the header states no size. */
export const claimedSize = (frame: Uint8Array): number | null => frameHeader(frame)?.size ?? null;

/**
 * How many of its last bytes a decoder of the first frame has to keep (RFC 8878, 3.1.1.1.2). Frames to be skipped may lie before it: pzstd writes
 * one before each of its own. null: the bytes are no frame.
 */
export function windowBytes(frames: Uint8Array): number | null {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.length);
  let at = 0;
  while (at + 8 <= frames.length && (view.getUint32(at, true) & ~0xf) >>> 0 === SKIPPABLE_MAGIC)
    at += 8 + view.getUint32(at + 4, true);
  return frameHeader(frames.subarray(at))?.window ?? null;
}

interface FrameHeader {
  /** null: the header does not state it. */
  readonly size: number | null;
  readonly window: number;
}

function frameHeader(frame: Uint8Array): FrameHeader | null {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  if (frame.length < 6 || view.getUint32(0, true) !== MAGIC) return null;
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  const at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const bytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  if (at + bytes > frame.length) return null;
  const size = sizeField(view, at, bytes);
  return { size, window: isSingleSegment ? size! : windowOf(view.getUint8(5)) };
}

const windowOf = (descriptor: number): number => 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8);

function sizeField(view: DataView, at: number, bytes: number): number | null {
  if (bytes === 0) return null;
  if (bytes === 1) return view.getUint8(at);
  if (bytes === 2) return view.getUint16(at, true) + 256;
  return bytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}
