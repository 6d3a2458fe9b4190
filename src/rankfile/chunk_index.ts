/**
 * Where the chunks of a stream-mode file are: one entry per valid chunk header, found by the walk in schemas/rank-file.md. It does not read
 * payloads, so the index of a file of many GB takes some MB.
 */

import { firstIndex } from '../base/first_index.js';
import * as format from './format/constants.js';
import { crc32 } from './format/crc32.js';
import type { ByteSource } from './byte_source.js';
import type { HeaderLayout } from './header.js';
import type { Problems } from './problems.js';
import { type TickFrame, tickIn } from './tick_frame.js';
import type { Ticks } from '../base/time.js';

/** The walk ends after this many places without a chunk header: 1 GiB. */
const MAX_PLACES = 2 ** 18;
/** Positions have 48 bits. */
const POSITION_LIMIT = format.POSITION_MASK + 1;

export interface ChunkEntry {
  readonly area: number;
  readonly codec: number;
  /** Positions [first, end). */
  readonly first: number;
  readonly end: number;
  /** Ticks of the records that begin in it; null: not known. */
  readonly span: { readonly first: Ticks; readonly last: Ticks } | null;
  readonly sequence: number;
  readonly rawBytes: number;
  readonly storedBytes: number;
  readonly payloadOffset: number;
  readonly payloadCrc: number;
}

/** In the order of the file. */
export function findChunks(
  source: ByteSource,
  layout: HeaderLayout,
  frame: TickFrame,
  problems: Problems,
): ChunkEntry[] {
  if (layout.chunksOffset === 0) return [];
  const found: ChunkEntry[] = [];
  let places = 0;
  for (let at = firstPlace(source, layout); at < source.bytes;) {
    const chunk = readEntry(source, at, frame);
    if (chunk !== null) {
      found.push(chunk);
      at = nextPlace(chunk.payloadOffset + chunk.storedBytes);
      places = 0;
    } else {
      at += format.CHUNK_ALIGNMENT;
      if (++places < MAX_PLACES || at >= source.bytes) continue;
      problems.add('1 GiB without a stream-mode chunk, not searched further');
      break;
    }
  }
  return found;
}

/** No check covers chunks_begin: it is used if a chunk can be there. */
function firstPlace(source: ByteSource, { chunksBegin, chunksOffset }: HeaderLayout): number {
  const canBegin = chunksBegin % format.CHUNK_ALIGNMENT === 0;
  if (canBegin && chunksBegin >= chunksOffset && chunksBegin < source.bytes) return chunksBegin;
  return nextPlace(chunksOffset);
}

const nextPlace = (at: number): number => Math.ceil(at / format.CHUNK_ALIGNMENT) * format.CHUNK_ALIGNMENT;

function readEntry(source: ByteSource, at: number, frame: TickFrame): ChunkEntry | null {
  const bytes = source.read(at, format.CHUNK_HEADER_BYTES);
  if (bytes.length < format.CHUNK_HEADER_BYTES) return null;
  const C = format.CHUNK_HEADER;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(C.magic, true) !== format.CHUNK_MAGIC) return null;
  const entry: ChunkEntry = {
    area: view.getUint16(C.area, true),
    codec: view.getUint16(C.codec, true),
    first: Number(view.getBigUint64(C.firstPosition, true)),
    end: Number(view.getBigUint64(C.endPosition, true)),
    span: spanOf(view, frame),
    sequence: Number(view.getBigUint64(C.sequence, true)),
    rawBytes: view.getUint32(C.rawBytes, true),
    storedBytes: view.getUint32(C.storedBytes, true),
    payloadOffset: at + format.CHUNK_HEADER_BYTES,
    payloadCrc: view.getUint32(C.payloadCrc, true),
  };
  const headerCrc = view.getUint32(C.headerCrc, true);
  view.setUint32(C.headerCrc, 0, true);
  return isPossible(entry, source.bytes) && crc32(bytes) === headerCrc ? entry : null;
}

/** Without a record that begins inside, both ticks are 0. */
function spanOf(view: DataView, frame: TickFrame): ChunkEntry['span'] {
  const C = format.CHUNK_HEADER;
  const first = tickIn(frame, view.getBigUint64(C.firstTick, true));
  const last = tickIn(frame, view.getBigUint64(C.lastTick, true));
  const isEmpty = view.getBigUint64(C.lastTick, true) === 0n;
  return isEmpty || first === null || last === null || first > last ? null : { first, last };
}

const isPossible = (entry: ChunkEntry, fileBytes: number): boolean =>
  entry.end <= POSITION_LIMIT &&
  (entry.end - entry.first) * format.SLOT_BYTES === entry.rawBytes &&
  entry.rawBytes <= format.MAX_CHUNK_RAW_BYTES &&
  entry.sequence < 2 ** 53 &&
  entry.payloadOffset + entry.storedBytes <= fileBytes;

/** Sequence numbers of a file's chunks. A number without a chunk was dropped or damaged. */
export class Sequences {
  private readonly sorted: Float64Array;

  constructor(chunks: readonly ChunkEntry[]) {
    this.sorted = Float64Array.from(new Set(chunks.map(({ sequence }) => sequence))).sort();
  }

  /** Chunks before the oldest one in the file, dropped to stay within max_bytes. */
  get dropped(): number {
    return this.sorted[0] ?? 0;
  }

  /** Missing chunks between others. */
  get missing(): number {
    const last = this.sorted.at(-1);
    return last === undefined ? 0 : last + 1 - this.dropped - this.sorted.length;
  }

  /** Whether `after` is later, and no chunk between the two is missing. */
  areAllBetween(before: number, after: number): boolean {
    return after > before && this.countBelow(after) - this.countBelow(before + 1) === after - before - 1;
  }

  private countBelow(limit: number): number {
    return firstIndex(this.sorted.length, (i) => this.sorted[i]! >= limit);
  }
}

/** A chunk of one ring, and the positions to read from it. Positions that an earlier chunk has are left out. */
export interface RingChunk {
  readonly entry: ChunkEntry;
  readonly from: number;
  readonly end: number;
}

/** The chunks of each ring by position, clipped so that each position is in one chunk. */
export function chunksByRing(
  chunks: readonly ChunkEntry[],
  isRing: (area: number) => boolean,
  problems: Problems,
): Map<number, RingChunk[]> {
  const byRing = new Map<number, ChunkEntry[]>();
  for (const chunk of chunks) {
    if (!isRing(chunk.area)) problems.add('chunks of areas that are no rings, skipped');
    else if (byRing.has(chunk.area)) byRing.get(chunk.area)!.push(chunk);
    else byRing.set(chunk.area, [chunk]);
  }
  return new Map([...byRing].map(([ring, own]) => [ring, withoutOverlaps(own, problems)]));
}

function withoutOverlaps(chunks: ChunkEntry[], problems: Problems): RingChunk[] {
  const kept: RingChunk[] = [];
  let covered = 0;
  for (const entry of chunks.sort((a, b) => a.first - b.first || a.sequence - b.sequence)) {
    const from = Math.max(entry.first, covered);
    problems.add(
      'slots that are in two chunks, taken from the first',
      Math.min(from, entry.end) - entry.first,
    );
    if (from >= entry.end) continue;
    kept.push({ entry, from, end: entry.end });
    covered = entry.end;
  }
  return kept;
}
