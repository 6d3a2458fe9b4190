/** A whole rank file in memory: for small files, tests, and users who want everything at once. */

import { AreaReader } from './areas.js';
import type { ByteSource } from './byte_source.js';
import { withFile } from './rank_file_source.js';
import { readDirectory } from './directory.js';
import { KernelFile } from '../kernel/host/kernel_file.js';
import { readTables } from './file_tables.js';
import { readHeader } from './header.js';
import { Problems } from './problems.js';
import type { FileRecords } from './record_reader.js';
import { type StreamedRing, streamSource } from './rank_file_stream.js';
import { concatenated, copyOf } from './records.js';
import { frameOf } from './tick_frame.js';
import { withTrueRate } from './tick_rate.js';
import type { FileFacts, RankFile, RankFileHeader, RecordColumns, Ring } from './file_types.js';

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
    const kernel = new KernelFile();
    const reader = new AreaReader(source, frameOf(header), problems, kernel);
    const tables = readTables(directory, reader, header.life, problems);
    kernel.close();
    return {
      path: source.path,
      bytes: source.bytes,
      header: withTrueRate(header, tables.clockSamples, problems),
      ...tables,
    };
  });

export function parseRankFile(source: ByteSource, made: FileRecords = new KernelFile()): RankFile {
  const { rings, folds, problems, close, ...facts } = streamSource(source, null, made);
  const file = { ...facts, rings: rings.map(readAll), folds: folds(), problems: problems() };
  close();
  return file;
}

function readAll({ next, ...facts }: StreamedRing): Ring {
  const segments: RecordColumns[] = [];
  for (let records = next(); records !== null; records = next()) segments.push(copyOf(records));
  return { ...facts, records: concatenated(segments) };
}
