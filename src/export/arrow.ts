/** What export/parquet.ts uses of apache-arrow and parquet-wasm: 400 kB, bundled apart (scripts/bundle.mjs), so that only an export loads it. */

export {
  type Data,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
export {
  Compression,
  EnabledStatistics,
  initSync,
  type RecordBatch as WasmBatch,
  Table as WasmTable,
  transformParquetStream,
  type WriterProperties,
  WriterPropertiesBuilder,
} from 'parquet-wasm/esm';
