/**
 * One rank file, read completely: header, directory, tables, rings. Area by area, so that beside the columns no more
 * than one area's bytes are in memory. Throws RankFileError when nothing can be used; everything less is counted in
 * `problems`. Reading a file that is still being written, or a copy of one, is a normal case.
 *
 * The format is schemas/rank-file.md.
 */

import * as format from '../format/constants.js';
import { kindName, LAYOUTS } from '../format/layouts.js';
import { type ByteSource, withFile } from './byte_source.js';
import { noteChunks } from './chunks.js';
import { type Area, readDirectory, type TableClass } from './directory.js';
import { readFolds } from './folds.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import { type AssembledRecords, assembleRecords } from './records.js';
import { checkSlots } from './slots.js';
import { readClockSamples, readCommunicators, readLeases, readStrings, sortedSamples } from './tables.js';
import type { OpenFold, RankFile, RankFileHeader, RecordColumns, Ring, RingClass } from './types.js';

export const openRankFile = (path: string): RankFile => withFile(path, parseRankFile);

/** The header alone: quick, for choosing among many files. Throws as openRankFile does. */
export const openRankFileHeader = (path: string): RankFileHeader =>
  withFile(path, (source) => readHeader(source, new Problems()).header);

export function parseRankFile(source: ByteSource): RankFile {
  const problems = new Problems();
  const { header, layout } = readHeader(source, problems);
  const areas = readDirectory(source, layout, problems);
  const reader = new AreaReader(source, header, problems);

  const tables = readTables(areas, reader, problems);
  const rings: Ring[] = [];
  const folds: OpenFold[] = [];
  for (const area of areas) {
    if (area.ring === null) continue;
    const ring = reader.ring(area, area.ring);
    rings.push(ring);
    folds.push(...reader.folds(area, ring.records));
  }
  noteChunks(source, layout, problems);
  return {
    path: source.path,
    bytes: source.bytes,
    header,
    ...tables,
    rings,
    folds,
    problems: problems.list(),
  };
}

type Tables = Pick<RankFile, 'communicators' | 'strings' | 'leases' | 'heartbeat' | 'clockSamples'>;

function readTables(areas: readonly Area[], reader: AreaReader, problems: Problems): Tables {
  const all = (table: TableClass): Area[] => areas.filter((area) => area.table === table);
  const read = (area: Area): RecordColumns => reader.records(area, reader.live(area).head).records;
  const only = (table: TableClass): RecordColumns => {
    const [first, ...more] = all(table);
    problems.add(`further tables of ${table}, skipped`, more.length);
    return first === undefined ? NO_RECORDS : read(first);
  };

  const rings = new Set(areas.filter((area) => area.ring !== null).map((area) => area.index));
  const heartbeats = readClockSamples(only('heartbeat'), problems);
  const samples = all('clock').flatMap((area) => readClockSamples(read(area), problems));
  return {
    communicators: readCommunicators(only('communicators'), problems),
    strings: readStrings(only('strings'), problems),
    leases: readLeases(only('leases'), (index) => rings.has(index), problems),
    heartbeat: heartbeats.at(-1) ?? null,
    clockSamples: sortedSamples([...heartbeats, ...samples]),
  };
}

const NO_RECORDS: RecordColumns = {
  length: 0,
  position: new Float64Array(0),
  tick: new Float64Array(0),
  kind: new Uint8Array(0),
  word1Low: new Uint32Array(0),
  word1High: new Uint32Array(0),
  word2Low: new Uint32Array(0),
  word2High: new Uint32Array(0),
  extraStart: new Uint32Array(1),
  extra: new Uint32Array(0),
};

interface AreaLive {
  readonly head: number;
  readonly folded: number;
  readonly muted: number;
  readonly nullCalls: number;
  readonly ordinalsLost: number;
}

class AreaReader {
  constructor(
    private readonly source: ByteSource,
    private readonly header: RankFileHeader,
    private readonly problems: Problems,
  ) {}

  live(area: Area): AreaLive {
    const bytes = this.source.read(area.liveOffset, format.AREA_LIVE_BYTES);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const field = (offset: number, max = Number.MAX_SAFE_INTEGER): number => {
      const value = offset + 8 <= bytes.length ? Number(view.getBigUint64(offset, true)) : 0;
      if (value <= max) return value;
      this.problems.add('heads and counters of areas that cannot be true, read as 0: the file was damaged');
      return 0;
    };
    return {
      head: field(format.AREA_LIVE.head, format.POSITION_MASK),
      folded: field(format.AREA_LIVE.folded),
      muted: field(format.AREA_LIVE.muted),
      nullCalls: field(format.AREA_LIVE.nullCalls),
      ordinalsLost: field(format.AREA_LIVE.ordinalsLost),
    };
  }

  records(area: Area, head: number): AssembledRecords & { tornSlots: number } {
    const wanted = area.capacity * format.SLOT_BYTES;
    const bytes = this.source.read(area.slotsOffset, wanted);
    if (bytes.length < wanted)
      this.problems.add('areas cut off by the end of the file: the copy was cut short');
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
    const slots = checkSlots(words, area.capacity, head);
    const assembled = assembleRecords(slots, head, this.header.tickBase);
    this.problems.add('records shorter than their kind, skipped', assembled.tooShort);
    this.problems.add('records older than the start of the file', assembled.early);
    return { ...assembled, tornSlots: slots.tornSlots };
  }

  ring(area: Area, ringClass: RingClass): Ring {
    const live = this.live(area);
    const { records, gaps, kinds, tornSlots } = this.records(area, live.head);
    kinds.forEach((count, kind) => {
      if (kind < format.Kind.StartGroup) this.problems.add('records of tables in a ring', count);
      else if (!LAYOUTS.has(kind))
        this.problems.add(`records of a kind this version does not read: ${kindName(kind)}`, count);
    });
    return { ring: area.index, class: ringClass, capacity: area.capacity, ...live, records, gaps, tornSlots };
  }

  folds(area: Area, records: RecordColumns): OpenFold[] {
    const bytes = this.source.read(area.foldsOffset, area.foldCapacity * format.FOLD_BYTES);
    return readFolds(bytes, area.index, records, this.header.tickBase, this.problems);
  }
}
