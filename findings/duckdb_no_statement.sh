#!/usr/bin/env bash
# Expected: a text without a statement, such as a comment, has 0 statements: that is what `count` of extractStatements is for.
# Happens: @duckdb/node-api rejects with "Error in native callback", without cause or code. A syntax error has DuckDB's own
#   message, and `run` takes the same text without a word.
# Versions: @duckdb/node-api 1.5.6-r.1, Node 20.20.0.
# Output seen: below, after SEEN.
# Why it matters: who takes a query from a person and checks that it is one statement shows an internal error for an empty
#   box or a commented-out line. Catch this message, or ask `run` first.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent @duckdb/node-api@1.5.6-r.1 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';

const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
for (const sql of ['SELECT 1', 'SELECT 1; SELECT 2', '-- the busiest links', '', 'SELEC 1']) {
  const counted = await duckdb.extractStatements(sql).then(
    ({ count }) => `${count} statements`,
    (error) => `${error.message.split('\n')[0]}, cause ${error.cause}, code ${error.code}`,
  );
  const ran = await duckdb.run(sql).then(
    () => 'runs',
    () => 'refused',
  );
  console.log(`"${sql}": ${counted}; ${ran}`);
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
"SELECT 1": 1 statements; runs
"SELECT 1; SELECT 2": 2 statements; runs
"-- the busiest links": Error in native callback, cause undefined, code undefined; runs
"": Error in native callback, cause undefined, code undefined; runs
"SELEC 1": Failed to extract statements: Parser Error: syntax error at or near "SELEC", cause undefined, code undefined; refused
SEEN
