/**
 * One rank file, read once from front to back. Header, tables, the rings' own slots and the index of chunks are read at once. Records are
 * read ring by ring on request. So memory holds the rings and one chunk of each ring, however long the run is. Throws RankFileError for an
 * unusable file. Lesser damage is counted in `problems`.
 *
 * Reading a file that is still being written, or a copy of one, is normal. Rings are read before chunks, so records that the recorder moves
 * meanwhile are in one of them. The format is schemas/rank-file.md.
 */

import * as format from './format/constants.js';
import { kindName, LAYOUTS } from './format/layouts.js';
import { AreaReader, countRecords } from './areas.js';
import type { ByteSource } from './byte_source.js';
import { openSource } from './rank_file_source.js';
import { type ChunkEntry, chunksByRing, findChunks, type RingChunk, Sequences } from './chunk_index.js';
import { type Payload, readPayload } from './chunk_payload.js';
import { type Area, readDirectory } from './directory.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { readTables } from './file_tables.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import type { FileRecords, RecordReader, RingBytes, RingItself } from './record_reader.js';
import { type RingParts, RingStream } from './ring_stream.js';
import { frameOf } from './tick_frame.js';
import { withTrueRate } from './tick_rate.js';
import type {
  ChunkFacts,
  FileFacts,
  Gap,
  Lease,
  OpenFold,
  Problem,
  RankFileHeader,
  ReadWindow,
  RecordColumns,
  RingClass,
  RingFacts,
} from './file_types.js';

export interface RankFileStream<Segment = RecordColumns> extends FileFacts {
  readonly rings: readonly StreamedRing<Segment>[];
  /** Repeats still going on. Complete when all records have been read, like `problems`. */
  readonly folds: () => OpenFold[];
  readonly problems: () => Problem[];
}

export interface StreamedRing<Segment = RecordColumns> extends RingFacts {
  /** The next records, at least one; null after the last one. */
  readonly next: () => Segment | null;
  /** Complete when `next` has returned null; before, up to the records returned. */
  readonly gaps: readonly Gap[];
}

/** Makes the records of a ring. */
export type ReaderOf<Segment> = (ring: RingItself, bytes: RingBytes) => RecordReader<Segment>;

type Closable<Stream> = Stream & { readonly close: () => void };

/** The file stays open until `close`. `window`: which of its chunks are read; null: all. */
export function streamRankFile(path: string, window: ReadWindow | null = null): Closable<RankFileStream> {
  const kernel = new KernelFile();
  return streamSegments(path, window, kernel, (ring, bytes) => kernel.columns(ring, bytes));
}

/** The same, with records of another form. `kernel`: closed with the file. */
export function streamSegments<Segment>(
  path: string,
  window: ReadWindow | null,
  kernel: KernelFile,
  readerOf: ReaderOf<Segment>,
): Closable<RankFileStream<Segment>> {
  const source = openSource(path);
  const close = (): void => {
    kernel.close();
    source.close();
  };
  try {
    return { ...segmentsOf(source, window, kernel, readerOf), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** `close` when its records are no longer in use. */
export function streamSource(
  source: ByteSource,
  window: ReadWindow | null = null,
  made: FileRecords = new KernelFile(),
): Closable<RankFileStream> {
  const close = (): void => {
    made.close();
  };
  return { ...segmentsOf(source, window, made, (ring, bytes) => made.columns(ring, bytes)), close };
}

function segmentsOf<Segment>(
  source: ByteSource,
  window: ReadWindow | null,
  made: FileRecords,
  readerOf: ReaderOf<Segment>,
): RankFileStream<Segment> {
  const problems = new Problems();
  if (source.problem !== undefined) problems.add(source.problem);
  const { header: stated, layout } = readHeader(source, problems);
  const directory = readDirectory(source, layout, problems);
  const { areas } = directory;
  const reader = new AreaReader(source, frameOf(stated), problems, made);
  const tables = readTables(directory, reader, stated.life, problems);
  const header = withTrueRate(stated, tables.clockSamples, problems);
  const frame = frameOf(header);
  made.begin({ path: source.path, bytes: source.bytes, header, ...tables });
  const mayBeUsed = ringsInUse(header, tables);
  const own = areas.flatMap((area) =>
    area.ring === null ? [] : [readRing(area, area.ring, reader, readerOf, mayBeUsed(area))],
  );

  const chunks = findChunks(source, layout, frame, problems);
  const sequences = new Sequences(chunks);
  const byRing = chunksByRing(chunks, (area) => own.some(({ facts }) => facts.ring === area), problems);
  const load = (chunk: RingChunk): Payload | null => readPayload(source, chunk.entry, problems);
  const rings = own.map(({ facts, records, folds }) => {
    const parts = {
      chunks: byRing.get(facts.ring) ?? [],
      sequences,
      window,
      load,
      reader: records,
    };
    return new OpenRing({ ...facts, chunks: spanOf(parts.chunks) }, parts, folds);
  });
  // Only for a closed file, because in a copy of a live file the leases may be newer than the rings.
  const short = header.life === 'closed' ? rings.filter((ring) => ring.isShortOf(tables.leases)) : [];
  problems.add('rings that lack positions named in the leases: the file was damaged', short.length);
  return {
    path: source.path,
    bytes: source.bytes,
    header,
    ...tables,
    damage: { ...tables.damage, shortRings: short.length },
    chunks: chunkFacts(chunks, sequences),
    rings: rings.map((ring) => ring.view()),
    folds: () => rings.flatMap((ring) => ring.folds),
    problems: () => {
      const all = problems.copy();
      for (const ring of rings) ring.report(all);
      return all.list();
    },
  };
}

/**
 * Whether a thread may have used the ring of an area. Most rings of a file are never used, and their slots are most of its bytes. Only a
 * closed file says it for certain: in another one a thread may have taken the ring after its leases were read or copied.
 */
function ringsInUse(
  { life, leasesLost }: Pick<RankFileHeader, 'life' | 'leasesLost'>,
  { leases, damage }: Pick<FileFacts, 'leases' | 'damage'>,
): (area: Area) => boolean {
  const leased = new Set(leases.map(({ ring }) => ring));
  const isCertain = life === 'closed' && leasesLost === 0 && damage.lostEntries === 0;
  return ({ index, ring }) => !isCertain || ring === 'overflow' || leased.has(index);
}

function readRing<Segment>(
  area: Area,
  ringClass: RingClass,
  reader: AreaReader,
  readerOf: ReaderOf<Segment>,
  mayBeUsed: boolean,
) {
  const live = reader.live(area);
  const { index: ring, capacity } = area;
  const itself: RingItself = { ring, class: ringClass, capacity, ...live };
  const isRead = mayBeUsed || live.head > 0 || reader.isCut(area);
  const records = readerOf(itself, isRead ? reader.slotBytes(area) : NO_SLOTS);
  const facts = { ...itself, tornSlots: records.ring.tornSlots };
  return { facts, records, folds: reader.folds(area) };
}

const NO_SLOTS: RingBytes = { slots: 0, read: () => new Uint8Array(0) };

/** A ring that is being read, with facts that only its whole content shows. */
class OpenRing<Segment> {
  private readonly stream: RingStream<Segment>;

  constructor(
    private readonly facts: RingFacts,
    private readonly parts: Omit<RingParts<Segment>, 'facts'>,
    public folds: readonly OpenFold[],
  ) {
    this.stream = new RingStream({ facts, ...parts });
  }

  view(): StreamedRing<Segment> {
    return { ...this.facts, gaps: this.stream.gaps, next: () => this.next() };
  }

  isShortOf(leases: readonly Lease[]): boolean {
    const { newest } = this.stream;
    return leases.some(
      ({ ring, fromPosition, endPosition }) =>
        ring === this.facts.ring && Math.max(fromPosition, endPosition ?? 0) > newest,
    );
  }

  private next(): Segment | null {
    const segment = this.stream.next();
    if (segment !== null) this.folds = this.parts.reader.withoutRecorded(this.folds, segment);
    return segment;
  }

  report(problems: Problems): void {
    const counts = this.parts.reader.counts();
    countRecords(counts, problems);
    problems.add('slots of chunks that do not check out', this.stream.badSlots);
    counts.kinds.forEach((count, kind) => {
      if (count === 0) return;
      if (isOfTables(kind)) problems.add('records of tables in a ring', count);
      else if (!LAYOUTS.has(kind))
        problems.add(`records of a kind this version does not read: ${kindName(kind)}`, count);
    });
  }
}

const isOfTables = (kind: number): boolean =>
  kind < format.Kind.StartGroup || kind === format.Kind.ControlChange;

function spanOf(chunks: readonly RingChunk[]): RingFacts['chunks'] {
  const [first, last] = [chunks[0], chunks.at(-1)];
  return first && last ? { count: chunks.length, from: first.from, end: last.end } : null;
}

function chunkFacts(chunks: readonly ChunkEntry[], { dropped, missing }: Sequences): ChunkFacts {
  return {
    count: chunks.length,
    compressed: chunks.filter(({ codec }) => codec !== format.Codec.Raw).length,
    rawBytes: chunks.reduce((sum, { rawBytes }) => sum + rawBytes, 0),
    storedBytes: chunks.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
    dropped,
    missing,
  };
}
