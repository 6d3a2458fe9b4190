#!/usr/bin/env bash
# Expected: Array#sort keeps equal elements in their order, as JavaScript's has since ES2019 ("a TypeScript-like language").
# Happens: it does so up to 48 elements (insertion sort) and no longer from 49 on. StaticArray likewise.
# Versions: assemblyscript 0.28.20.
# Output seen: below, after SEEN.
# Why it matters: events with equal times (a call and its first step) change places once a window has more than 48 of
#   them, and a test with a handful passes. Compare by a second key, such as the position of the record.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent assemblyscript@0.28.20 >/dev/null

cat >"$dir/sort.ts" <<'TS'
class Event {
  constructor(
    public time: i32,
    public position: i32,
  ) {}
}
function changed(a: Event, b: Event): bool {
  return a.time == b.time && a.position > b.position;
}
export function keepsOrder(size: i32): bool {
  const events = new Array<Event>();
  for (let i = 0; i < size; i++) events.push(new Event(i % 2, i));
  events.sort((a, b) => a.time - b.time);
  for (let i = 1; i < size; i++) if (changed(events[i - 1], events[i])) return false;
  return true;
}
export function staticKeepsOrder(size: i32): bool {
  const events = new StaticArray<Event>(size);
  for (let i = 0; i < size; i++) events[i] = new Event(i % 2, i);
  events.sort((a, b) => a.time - b.time);
  for (let i = 1; i < size; i++) if (changed(events[i - 1], events[i])) return false;
  return true;
}
TS
node "$dir/node_modules/assemblyscript/bin/asc.js" "$dir/sort.ts" -o "$dir/sort.wasm" --runtime stub -O

cat >"$dir/try.mjs" <<'JS'
import { readFileSync } from 'node:fs';
const bytes = readFileSync(new URL('sort.wasm', import.meta.url));
const { instance } = await WebAssembly.instantiate(bytes, { env: { abort() {} } });
const sizes = Array.from({ length: 200 }, (_, index) => index + 1);
for (const [kind, keepsOrder] of Object.entries(instance.exports).filter(([, export_]) => export_ instanceof Function)) {
  const unstable = sizes.filter((size) => !keepsOrder(size));
  console.log(`${kind}: broken from ${unstable[0]} on, in ${unstable.length} of ${sizes.length} sizes`);
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
keepsOrder: broken from 49 on, in 152 of 200 sizes
staticKeepsOrder: broken from 49 on, in 152 of 200 sizes
SEEN
