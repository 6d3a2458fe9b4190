/** A whole rank file in memory: for small files, tests, and users who want everything at once. */

import { AreaReader } from './areas.js';
import type { ByteSource } from './byte_source.js';
import { withFile } from './rank_file_source.js';
import { bestDecoder } from './best_decoder.js';
import type { Decoder } from './decoder.js';
import { readDirectory } from './directory.js';
import { FileMemory } from '../base/file_memory.js';
import { NO_RECORDS, readTables } from './file_tables.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import { type StreamedRing, streamSource } from './rank_file_stream.js';
import { copyOf } from './records.js';
import { frameOf } from './tick_frame.js';
import { withTrueRate } from './tick_rate.js';
import type { FileFacts, RankFile, RankFileHeader, RecordColumns, Ring } from './types.js';

export const openRankFile = (path: string): RankFile => withFile(path, (source) => parseRankFile(source));

/** Reads only the header: a quick way to choose among many files. Throws the same errors as openRankFile. */
export const openRankFileHeader = (path: string): RankFileHeader =>
  withFile(path, (source) => readHeader(source, new Problems()).header);

/** Reads header and tables, without rings and chunks: a quick way to distinguish the runs of many files. Throws the same errors. */
export type FileTables = Omit<FileFacts, 'chunks'>;

export const openRankFileTables = (path: string): FileTables =>
  withFile(path, (source) => {
    const problems = new Problems();
    const { header, layout } = readHeader(source, problems);
    const directory = readDirectory(source, layout, problems);
    const memory = new FileMemory();
    const reader = new AreaReader(source, frameOf(header), problems, bestDecoder, memory);
    const tables = readTables(directory, reader, header.life, problems);
    memory.release();
    return {
      path: source.path,
      bytes: source.bytes,
      header: withTrueRate(header, tables.clockSamples, problems),
      ...tables,
    };
  });

export function parseRankFile(source: ByteSource, decoder: Decoder = bestDecoder): RankFile {
  const { rings, folds, problems, ...facts } = streamSource(source, decoder);
  return { ...facts, rings: rings.map(readAll), folds: folds(), problems: problems() };
}

function readAll({ next, ...facts }: StreamedRing): Ring {
  const segments: RecordColumns[] = [];
  for (let records = next(); records !== null; records = next()) segments.push(copyOf(records));
  return { ...facts, records: concatenated(segments) };
}

function concatenated(segments: readonly RecordColumns[]): RecordColumns {
  const [first = NO_RECORDS, ...more] = segments;
  if (more.length === 0) return first;
  const length = segments.reduce((sum, segment) => sum + segment.length, 0);
  const extraLength = segments.reduce((sum, segment) => sum + segment.extra.length, 0);
  const all = {
    length,
    position: new Float64Array(length),
    tick: new Float64Array(length),
    kind: new Uint8Array(length),
    word1Low: new Uint32Array(length),
    word1High: new Uint32Array(length),
    word2Low: new Uint32Array(length),
    word2High: new Uint32Array(length),
    extraStart: new Uint32Array(length + 1),
    extra: new Uint32Array(extraLength),
  };
  let row = 0;
  let extra = 0;
  for (const segment of segments) {
    for (const column of COLUMNS) all[column].set(segment[column], row);
    for (let i = 1; i <= segment.length; i++) all.extraStart[row + i] = extra + segment.extraStart[i]!;
    all.extra.set(segment.extra, extra);
    row += segment.length;
    extra += segment.extra.length;
  }
  return all;
}

const COLUMNS = ['position', 'tick', 'kind', 'word1Low', 'word1High', 'word2Low', 'word2High'] as const;
