#!/usr/bin/env bash
# Expected: DuckDB's TIMESTAMP_NS stays exact to the nanosecond in DuckDB's own arithmetic, or the operation is refused.
# Happens: values differ and can be compared, but their difference is an INTERVAL of microseconds: 789 ns apart is
#   00:00:00. A sum with an interval, date_trunc, time_bucket and avg turn into TIMESTAMP and drop the nanoseconds.
#   Nothing is said. date_diff has no unit for nanoseconds.
# Versions: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6).
# Output seen: below, after SEEN.
# Why it matters: the waits in an NCCL trace are often below a microsecond; `end - start` over such columns gives 0 for
#   them. Keep times as BIGINT nanoseconds (epoch_ns) and subtract these.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent @duckdb/node-api@1.5.6-r.1 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';
const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
const slice = `(SELECT make_timestamp_ns(1700000000123456000) AS began, make_timestamp_ns(1700000000123456789) AS ended)`;
async function show(expression) {
  try {
    const rows = await duckdb.runAndReadAll(`SELECT (${expression})::VARCHAR || ' ' || typeof(${expression}) FROM ${slice}`);
    console.log(`${expression}: ${rows.getRows()[0][0]}`);
  } catch (error) {
    console.log(`${expression}: ${error.message.split('\n')[0]}`);
  }
}
await show('ended > began');
await show('epoch_ns(ended) - epoch_ns(began)');
await show('ended - began');
await show('ended + INTERVAL 0 SECOND');
await show('ended::TIMESTAMP');
await show("time_bucket(INTERVAL '1 microsecond', ended)");
await show("date_trunc('microsecond', ended)");
await show('avg(ended)');
await show("date_diff('nanosecond', began, ended)");
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
ended > began: true BOOLEAN
epoch_ns(ended) - epoch_ns(began): 789 BIGINT
ended - began: 00:00:00 INTERVAL
ended + INTERVAL 0 SECOND: 2023-11-14 22:13:20.123456 TIMESTAMP
ended::TIMESTAMP: 2023-11-14 22:13:20.123456 TIMESTAMP
time_bucket(INTERVAL '1 microsecond', ended): 2023-11-14 22:13:20.123456 TIMESTAMP
date_trunc('microsecond', ended): 2023-11-14 22:13:20.123456 TIMESTAMP
avg(ended): 2023-11-14 22:13:20.123456 TIMESTAMP
date_diff('nanosecond', began, ended): Conversion Error: extract specifier "nanosecond" not recognized
SEEN
