#!/usr/bin/env bash
# Expected: a SQLite file that is opened with `readOnly: true` is only read, and a reader that is killed leaves nothing
#   behind, because the system drops a process's locks.
# Happens: node-sqlite3-wasm makes a folder FILE.lock beside the file while a statement reads. A reader that is killed in
#   the middle leaves it, and from then on every reader, in a new process, too, gets "database is locked". Python's
#   sqlite3, which uses the system's locks, still reads the file.
# Versions: node-sqlite3-wasm 0.8.60 (SQLite 3.53), Node 20.20.0.
# Output seen: below, after SEEN.
# Why it matters: exports of profilers lie in folders that are shared or not writable, and analyses are killed by time
#   limits. Give it a link to the file in a folder of your own, or remove the folder when nobody reads.
# Needs: python3.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent node-sqlite3-wasm@0.8.60 >/dev/null

cat >"$dir/read.mjs" <<'JS'
import { readdirSync } from 'node:fs';
import sqlite from 'node-sqlite3-wasm';

const [mode] = process.argv.slice(2);
const beside = () => readdirSync('.').filter((name) => name.startsWith('kernels')).join(' ');
const open = () => new sqlite.Database('kernels.sqlite', { readOnly: true });
try {
  const rows = open().prepare('SELECT id FROM kernels').iterate();
  rows.next();
  console.log(`${mode}: reading, and there are ${beside()}`);
  if (mode === 'killed') process.kill(process.pid, 'SIGKILL');
  for (const _ of rows);
  console.log(`${mode}: read, and there are ${beside()}`);
} catch (error) {
  console.log(`${mode}: ${error.message}, and there are ${beside()}`);
}
JS
cd "$dir"
python3 -c "
import sqlite3
db = sqlite3.connect('kernels.sqlite')
db.execute('CREATE TABLE kernels (id INTEGER)')
db.executemany('INSERT INTO kernels VALUES (?)', [(1,), (2,)])
db.commit()"
{
  node read.mjs whole
  (node read.mjs killed || echo "killed: ended with $?") 2>/dev/null
  node read.mjs again
  python3 -c "
import sqlite3
print('python:', sqlite3.connect('file:kernels.sqlite?mode=ro', uri=True).execute('SELECT count(*) FROM kernels').fetchone()[0], 'rows')"
} | tee seen

diff - seen <<'SEEN'
whole: reading, and there are kernels.sqlite kernels.sqlite.lock
whole: read, and there are kernels.sqlite
killed: reading, and there are kernels.sqlite kernels.sqlite.lock
killed: ended with 137
again: database is locked, and there are kernels.sqlite kernels.sqlite.lock
python: 2 rows
SEEN
