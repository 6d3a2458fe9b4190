#!/usr/bin/env bash
# Expected: readers of CSV take 0x64684c4f0fd784b4 for text, as pandas and Polars do.
# Happens: DuckDB takes a column of such ids for BIGINT if all are below 2^63, and for VARCHAR otherwise, so the type changes
#   from file to file. pyarrow always takes it for int64, and ids from 2^63 on become negative. Quotes change nothing.
# Versions: @duckdb/node-api 1.5.6-r.1; PyPI: pyarrow 25.0.1, pandas 3.0.6, polars 1.44.2, Python 3.11.
# Output seen: below, after SEEN.
# Why it matters: ids of communicators, handles and hashes are written this way. They are no longer found by their text, nor joined
#   with those of a Parquet file. Name the column's type.
# Needs: python3 with venv.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent @duckdb/node-api@1.5.6-r.1 >/dev/null
python3 -m venv "$dir/python"
"$dir/python/bin/pip" install -qq pyarrow==25.0.1 pandas==3.0.6 polars==1.44.2

cd "$dir"
printf '%s\n' comm_id 0x64684c4f0fd784b4 0x0000000000000001 >small.csv
printf '%s\n' comm_id '"0xf4684c4f0fd784b4"' '"0x0000000000000001"' >large.csv
cat >try.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const ids = async (from) =>
  (await connection.runAndReadAll(`SELECT comm_id, typeof(comm_id) FROM ${from}`)).getRows().join(' ');
for (const name of ['small', 'large']) console.log(`duckdb ${name}:`, await ids(`'${name}.csv'`));
console.log('duckdb, type named:', await ids(`read_csv('small.csv', types = {'comm_id': 'VARCHAR'})`));
JS
cat >try.py <<'PY'
import pandas, polars, pyarrow
from pyarrow import csv

for name in ['small', 'large']:
    print(f'pyarrow {name}:', csv.read_csv(f'{name}.csv')['comm_id'].to_pylist())
named = csv.ConvertOptions(column_types={'comm_id': pyarrow.string()})
print('pyarrow, type named:', csv.read_csv('large.csv', convert_options=named)['comm_id'].to_pylist())
print('pandas large:', pandas.read_csv('large.csv')['comm_id'].tolist())
print('polars large:', polars.read_csv('large.csv')['comm_id'].to_list())
PY
{
  node try.mjs
  python/bin/python try.py
} | tee seen

diff - seen <<'SEEN'
duckdb small: 7235116703822611636,BIGINT 1,BIGINT
duckdb large: 0xf4684c4f0fd784b4,VARCHAR 0x0000000000000001,VARCHAR
duckdb, type named: 0x64684c4f0fd784b4,VARCHAR 0x0000000000000001,VARCHAR
pyarrow small: [7235116703822611636, 1]
pyarrow large: [-835333828425317196, 1]
pyarrow, type named: ['0xf4684c4f0fd784b4', '0x0000000000000001']
pandas large: ['0xf4684c4f0fd784b4', '0x0000000000000001']
polars large: ['0xf4684c4f0fd784b4', '0x0000000000000001']
SEEN
