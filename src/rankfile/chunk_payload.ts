/** The decompressed slots of one chunk. If the payload does not match its header, the result is null and the damage is counted. */

import { claimedSize } from '../base/zstd_frame.js';
import { addon } from './addon.js';
import { Codec } from './format/constants.js';
import { crc32 } from './format/crc32.js';
import type { ByteSource } from './byte_source.js';
import type { ChunkEntry } from './chunk_index.js';
import type { Problems } from './problems.js';
import { decompressFrame as decompressInWasm } from './zstd.js';

const KNOWN: readonly number[] = Object.values(Codec);
const BARE: readonly number[] = [Codec.ZstdBare, Codec.ZstdPlanes];

/** The decompressed bytes of a chunk. */
export interface Payload {
  readonly bytes: Uint8Array;
  /** Byte 0 of all slots, then byte 1 and so on. */
  readonly arePlanes: boolean;
  /** The slots lack the fields that can be computed. */
  readonly areBare: boolean;
}

export function readPayload(source: ByteSource, chunk: ChunkEntry, problems: Problems): Payload | null {
  const stored = source.read(chunk.payloadOffset, chunk.storedBytes);
  if (stored.length < chunk.storedBytes || crc32(stored) !== chunk.payloadCrc) {
    problems.add('chunks whose payload does not match its check, left out');
    return null;
  }
  const bytes = unpacked(stored, chunk, problems);
  if (bytes === null) return null;
  return { bytes, arePlanes: chunk.codec === Codec.ZstdPlanes, areBare: BARE.includes(chunk.codec) };
}

function unpacked(stored: Uint8Array, chunk: ChunkEntry, problems: Problems): Uint8Array | null {
  if (!KNOWN.includes(chunk.codec)) {
    problems.add(`chunks of unknown codec ${chunk.codec}, left out`);
    return null;
  }
  const raw = chunk.codec === Codec.Raw ? stored : decompressFrame(stored, chunk.rawBytes);
  if (raw?.length === chunk.rawBytes) return raw;
  problems.add('chunks whose decompressed size is not that of their header, left out');
  return null;
}

/** By the addon, if it was built with zstd: it is faster. */
function decompressFrame(frame: Uint8Array, size: number): Uint8Array | null {
  if (addon?.decompress === undefined) return decompressInWasm(frame, size);
  return claimedSize(frame) === size ? addon.decompress(frame, size) : null;
}
