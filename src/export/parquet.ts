/**
 * Writes a table as a Parquet file: apache-arrow makes a stream of record batches, parquet-wasm encodes it. Whole numbers are INT64, also times in ns,
 * because readers drop the nanoseconds of Parquet's own timestamps; times are microseconds without a time zone (UTC). Each batch is encoded
 * when it comes, so memory does not grow with the table.
 */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import { projectFile } from '../base/project.js';
import {
  Compression,
  type Data,
  Dictionary,
  EnabledStatistics,
  Field,
  Float64,
  initSync,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimestampMicrosecond,
  transformParquetStream,
  Utf8,
  vectorFromArray,
  type WasmBatch,
  WasmTable,
  type WriterProperties,
  WriterPropertiesBuilder,
} from './arrow.js';
import type { Batch, BatchColumn, ExportColumn } from './batch.js';

/** Two blocks of transfers. */
const GROUP_ROWS = 1 << 17;

/** A batch as a stream of Arrow's, whole by itself. It copies what it needs. */
export function arrowStream(columns: readonly ExportColumn[], { rows, columns: cells }: Batch): Uint8Array {
  const children = cells.map((column, i) => dataOf(column, rows, i));
  const fields = columns.map(({ name }, i) => new Field(name, children[i]!.type, true));
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  return tableToIPC(new Table(new RecordBatch(new Schema(fields), data)), 'stream');
}

/** -1: Arrow counts what is not known. */
function dataOf(column: BatchColumn, length: number, id: number): Data {
  const nulls = column.known === null ? { nullCount: 0 } : { nullCount: -1, nullBitmap: column.known };
  switch (column.type) {
    case 'text': {
      const type = new Dictionary(new Utf8(), new Int32(), id);
      const dictionary = vectorFromArray([...column.texts], new Utf8());
      return makeData({ type, length, ...nulls, data: column.places, dictionary });
    }
    case 'real':
      return makeData({ type: new Float64(), length, ...nulls, data: column.numbers });
    case 'whole':
      return makeData({ type: new Int64(), length, ...nulls, data: column.numbers });
    case 'time':
      return makeData({ type: new TimestampMicrosecond(), length, ...nulls, data: column.numbers });
  }
}

/** `streams`: of `arrowStream`, at least one. The file must not exist. Throws the system's errors. */
export async function writeParquet(
  path: string,
  columns: readonly ExportColumn[],
  streams: Iterable<Uint8Array>,
): Promise<void> {
  initSync({ module: readFileSync(projectFile('dist/parquet.wasm')) });
  const file = openSync(path, 'wx', 0o600);
  try {
    const encoded = await transformParquetStream(
      ReadableStream.from(batches(streams)) as never,
      properties(columns),
    );
    for await (const piece of encoded as unknown as AsyncIterable<Uint8Array>)
      for (let at = 0; at < piece.length;) at += writeSync(file, piece, at);
  } finally {
    closeSync(file);
  }
}

function* batches(streams: Iterable<Uint8Array>): Generator<WasmBatch> {
  for (const stream of streams) {
    const table = WasmTable.fromIPCStream(stream);
    const parts = table.recordBatches();
    table.free();
    yield* parts;
  }
}

/** Dictionaries for texts alone: for numbers they take three times as long, and the file is no smaller. */
function properties(columns: readonly ExportColumn[]): WriterProperties {
  let builder = new WriterPropertiesBuilder()
    .setCreatedBy('nccl-trace')
    .setCompression(Compression.SNAPPY)
    .setStatisticsEnabled(EnabledStatistics.Chunk)
    .setMaxRowGroupSize(GROUP_ROWS)
    .setDictionaryEnabled(false);
  for (const { name, type } of columns)
    if (type === 'text') builder = builder.setColumnDictionaryEnabled(name, true);
  return builder.build();
}
