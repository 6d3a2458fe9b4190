/** The decompressed slots of one chunk. If the payload does not match its header, the result is null and the damage is counted. */

import { Codec } from './format/constants.js';
import { crc32 } from './format/crc32.js';
import type { ByteSource } from './byte_source.js';
import type { ChunkEntry } from './chunk_index.js';
import type { Decoder } from './decoder.js';
import type { Problems } from './problems.js';

const KNOWN: readonly number[] = Object.values(Codec);
const BARE: readonly number[] = [Codec.ZstdBare, Codec.ZstdPlanes];

/** Eight 32-bit words per slot. */
export function readPayload(
  source: ByteSource,
  chunk: ChunkEntry,
  problems: Problems,
  decoder: Decoder,
): Uint32Array | null {
  const stored = source.read(chunk.payloadOffset, chunk.storedBytes);
  if (stored.length < chunk.storedBytes || crc32(stored) !== chunk.payloadCrc) {
    problems.add('chunks whose payload does not match its check, left out');
    return null;
  }
  const raw = unpacked(stored, chunk, problems, decoder);
  if (raw === null) return null;
  const words =
    chunk.codec === Codec.ZstdPlanes
      ? decoder.slotsOfPlanes(raw)
      : new Uint32Array(raw.buffer, raw.byteOffset, raw.length / 4);
  if (BARE.includes(chunk.codec)) decoder.dressSlots(words, chunk.first);
  return words;
}

function unpacked(
  stored: Uint8Array,
  chunk: ChunkEntry,
  problems: Problems,
  decoder: Decoder,
): Uint8Array | null {
  if (!KNOWN.includes(chunk.codec)) {
    problems.add(`chunks of unknown codec ${chunk.codec}, left out`);
    return null;
  }
  const raw = chunk.codec === Codec.Raw ? stored : decoder.decompressFrame(stored, chunk.rawBytes);
  if (raw?.length === chunk.rawBytes) return raw;
  problems.add('chunks whose decompressed size is not that of their header, left out');
  return null;
}
