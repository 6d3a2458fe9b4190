#!/usr/bin/env bash
# Expected: what zstd(1) wrote, a zstd library reads, whether zstd got a file or a pipe.
# Happens: a frame made of a pipe has no content size. zstd-wasm then takes a buffer of 1 MiB (option defaultHeapSize)
#   and fails beyond: "Failed to compress with code -70", on decompression. @hpcc-js/wasm-zstd guesses a size from the
#   compressed one: it reads 2 MB of noise and fails on 2 MB that compress well. fzstd reads all of them.
# Versions: @bokuweb/zstd-wasm 0.0.27, fzstd 0.1.1, @hpcc-js/wasm-zstd 1.12.5, Debian zstd 1.5.4.
# Output seen: below, after SEEN.
# Why it matters: traces are compressed in pipes and opened in browsers. Small ones work, real ones do not.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v zstd >/dev/null || { echo "needs zstd: apt-get install zstd" >&2; exit 1; }
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  @bokuweb/zstd-wasm@0.0.27 fzstd@0.1.1 @hpcc-js/wasm-zstd@1.12.5 >/dev/null

head -c 2000000 /dev/zero >"$dir/zeros"
head -c 2000000 /dev/urandom >"$dir/noise"
for name in zeros noise; do
  zstd -q "$dir/$name" -o "$dir/$name.file.zst"
  zstd -q <"$dir/$name" >"$dir/$name.pipe.zst"
done

cat >"$dir/try.mjs" <<'JS'
import { readFileSync } from 'node:fs';
import { decompress, init } from '@bokuweb/zstd-wasm';
import { Zstd } from '@hpcc-js/wasm-zstd';
import * as fzstd from 'fzstd';
await init();
const hpcc = await Zstd.load();
const readers = { 'zstd-wasm': decompress, fzstd: fzstd.decompress, 'hpcc-js': (bytes) => hpcc.decompress(bytes) };
for (const name of ['zeros.file', 'zeros.pipe', 'noise.file', 'noise.pipe'])
  for (const [reader, read] of Object.entries(readers)) {
    let found;
    try {
      found = `${read(readFileSync(new URL(`${name}.zst`, import.meta.url))).length} bytes`;
    } catch (error) {
      found = error.message;
    }
    console.log(`${name}, ${reader}: ${found}`);
  }
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
zeros.file, zstd-wasm: 2000000 bytes
zeros.file, fzstd: 2000000 bytes
zeros.file, hpcc-js: 2000000 bytes
zeros.pipe, zstd-wasm: Failed to compress with code -70
zeros.pipe, fzstd: 2000000 bytes
zeros.pipe, hpcc-js: Decompression failed: Destination buffer is too small
noise.file, zstd-wasm: 2000000 bytes
noise.file, fzstd: 2000000 bytes
noise.file, hpcc-js: 2000000 bytes
noise.pipe, zstd-wasm: Failed to compress with code -70
noise.pipe, fzstd: 2000000 bytes
noise.pipe, hpcc-js: 2000000 bytes
SEEN
