#!/usr/bin/env bash
# Expected: a float becomes a small integer either as in JavaScript (all is cut modulo 2^8) or as in Rust (saturated).
# Happens: both, one after the other: saturated to 32 bits, then cut to 8 or 16. So u8(300.7) is 44, u8(4294967295) is
#   255, and u8(4294967296) is 255, too, where JavaScript says 0. i8(-1e10) is 0, i8(1e10) is -1.
# Versions: assemblyscript 0.28.20.
# Output seen: below, after SEEN.
# Why it matters: a value that is too large is sometimes the type's limit and sometimes noise. Columns of small
#   integers (channel, peer, type) need a check before the conversion.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent assemblyscript@0.28.20 >/dev/null

cat >"$dir/convert.ts" <<'TS'
export function asU8(value: f64): i32 { return u8(value); }
export function asI8(value: f64): i32 { return i8(value); }
export function asU16(value: f64): i32 { return u16(value); }
TS
node "$dir/node_modules/assemblyscript/bin/asc.js" "$dir/convert.ts" -o "$dir/convert.wasm" --runtime stub -O

cat >"$dir/try.mjs" <<'JS'
import { readFileSync } from 'node:fs';
const bytes = readFileSync(new URL('convert.wasm', import.meta.url));
const { asU8, asI8, asU16 } = (await WebAssembly.instantiate(bytes, {})).instance.exports;
const [u8, i8, u16] = [new Uint8Array(1), new Int8Array(1), new Uint16Array(1)];
for (const value of [300.7, -1, 4294967295, 4294967296, 1e10, -1e10]) {
  u8[0] = i8[0] = u16[0] = value;
  console.log(`${value}: u8 ${asU8(value)}, i8 ${asI8(value)}, u16 ${asU16(value)}; JavaScript: ${u8}, ${i8}, ${u16}`);
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
300.7: u8 44, i8 44, u16 300; JavaScript: 44, 44, 300
-1: u8 0, i8 -1, u16 0; JavaScript: 255, -1, 65535
4294967295: u8 255, i8 -1, u16 65535; JavaScript: 255, -1, 65535
4294967296: u8 255, i8 -1, u16 65535; JavaScript: 0, 0, 0
10000000000: u8 255, i8 -1, u16 65535; JavaScript: 0, 0, 58368
-10000000000: u8 0, i8 0, u16 0; JavaScript: 0, 0, 7168
SEEN
