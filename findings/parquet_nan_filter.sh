#!/usr/bin/env bash
# Expected: DuckDB's answer to a WHERE depends on the rows of a Parquet file, not on which program wrote them.
# Happens: for DuckDB, NaN is above all numbers, and it writes no least and greatest value of a column with a NaN. parquet-wasm,
#   as pyarrow, writes those of the numbers, as the format says, and DuckDB believes them: of the rows 0.5, 1.5 and NaN, "x < 2"
#   holds for all three, "x > 2" for none, and the greatest is 1.5. For its own file the answers are two rows, NaN, and NaN.
# Versions: @duckdb/node-api 1.5.6-r.1, parquet-wasm 0.8.0, apache-arrow 21.2.0.
# Output seen: below, after SEEN.
# Why it matters: a rate of 0/0 is NaN, and then each comparison counts it or not by the origin of the file. Write null instead,
#   or turn the statistics of such columns off.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  @duckdb/node-api@1.5.6-r.1 parquet-wasm@0.8.0 apache-arrow@21.2.0 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { DuckDBInstance } from '@duckdb/node-api';
import { Table, tableFromArrays, tableToIPC } from 'apache-arrow';
const parquet = createRequire(import.meta.url)('parquet-wasm/node');

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const answer = async (sql) => (await connection.runAndReadAll(sql)).getRows().join(' ') || 'none';

const stream = tableToIPC(tableFromArrays({ x: Float64Array.of(0.5, 1.5, NaN) }), 'stream');
const { EnabledStatistics, WriterPropertiesBuilder } = parquet;
const bare = new WriterPropertiesBuilder().setStatisticsEnabled(EnabledStatistics.None).build();
writeFileSync('wasm.parquet', parquet.writeParquet(parquet.Table.fromIPCStream(stream)));
writeFileSync('bare.parquet', parquet.writeParquet(parquet.Table.fromIPCStream(stream), bare));
await connection.run(`COPY (FROM 'wasm.parquet') TO 'duckdb.parquet'`);
for (const name of ['duckdb', 'wasm', 'bare']) {
  const from = `FROM '${name}.parquet'`;
  const [low, high] = [await answer(`SELECT x ${from} WHERE x < 2`), await answer(`SELECT x ${from} WHERE x > 2`)];
  console.log(`${name}: < 2: ${low}; > 2: ${high}; greatest: ${await answer(`SELECT max(x) ${from}`)}`);
}
JS
cd "$dir"
node try.mjs | tee seen

diff - seen <<'SEEN'
duckdb: < 2: 0.5 1.5; > 2: NaN; greatest: NaN
wasm: < 2: 0.5 1.5 NaN; > 2: none; greatest: 1.5
bare: < 2: 0.5 1.5; > 2: NaN; greatest: NaN
SEEN
