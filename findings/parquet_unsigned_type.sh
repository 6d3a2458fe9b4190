#!/usr/bin/env bash
# Expected: a Parquet file with the logical type INTEGER(64, unsigned) that one library writes is read by the others.
# Happens: hyparquet-writer leaves `isSigned: false` out of the file. The field is required, so DuckDB ("TProtocolException:
#   Invalid data") and the Rust reader ("Required field is_signed is missing") refuse the whole file. hyparquet alone
#   reads it. With the older `converted_type: 'UINT_64'` all three take the file.
# Versions: hyparquet-writer 0.17.0, hyparquet 1.31.5, @duckdb/node-api 1.5.6-r.1, parquet-wasm 0.8.0.
# Output seen: below, after SEEN.
# Why it matters: an export that was checked with the writer's own reader is not readable in a notebook. Hashes of
#   communicators need all 64 bits: use converted_type, and check with a reader of another origin.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  hyparquet-writer@0.17.0 hyparquet@1.31.5 @duckdb/node-api@1.5.6-r.1 parquet-wasm@0.8.0 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readParquet } from 'parquet-wasm/node';

const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
const readers = {
  hyparquet: async (_, bytes) => (await parquetReadObjects({ file: bytes }))[0].id,
  DuckDB: async (path) => (await duckdb.runAndReadAll(`SELECT id FROM '${path}'`)).getRows()[0][0],
  'parquet-wasm': (_, bytes) => `${readParquet(new Uint8Array(bytes)).numBatches} batch`,
};
const types = {
  converted_type: { converted_type: 'UINT_64' },
  logical_type: { logical_type: { type: 'INTEGER', bitWidth: 64, isSigned: false } },
};
for (const [name, type] of Object.entries(types)) {
  const id = { name: 'id', type: 'INT64', repetition_type: 'REQUIRED', ...type };
  const bytes = parquetWriteBuffer({
    schema: [{ name: 'root', num_children: 1 }, id],
    columnData: [{ name: 'id', data: [2n ** 63n + 5n] }],
  });
  const path = new URL(`${name}.parquet`, import.meta.url).pathname;
  writeFileSync(path, Buffer.from(bytes));
  for (const [reader, read] of Object.entries(readers)) {
    const found = await (async () => read(path, bytes))().catch((error) => String(error.message ?? error));
    console.log(`${name}, ${reader}: ${found}`);
  }
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
converted_type, hyparquet: 9223372036854775813
converted_type, DuckDB: 9223372036854775813
converted_type, parquet-wasm: 1 batch
logical_type, hyparquet: 9223372036854775813
logical_type, DuckDB: Invalid Error: TProtocolException: Invalid data
logical_type, parquet-wasm: Parquet error: Required field is_signed is missing
SEEN
