#!/usr/bin/env bash
# Expected: the maximum of a WebAssembly.Memory is a limit; a memory of one page takes the addresses of one page, or none can be had and
#   the constructor throws.
# Happens: under a limit of addresses (`ulimit -v`, as on login nodes) the memory takes a large part of its maximum, as much as fits: of
#   4 GiB it takes 4, 2 or 1. Nothing is thrown; the rest of the process has what is left.
# Versions: Node 20.20.0, 22.22.3 and 24.21.0, with --disable-wasm-trap-handler (without it each memory takes 8 to 10 GiB or throws).
# Output seen: below, after SEEN: GiB of addresses that a memory of one page took, by the GiB that the process might still take.
# Why it matters: the second memory (zstd, another thread) and the heap find nothing, far from the line that took it. Make the memory
#   outside of the module, with a maximum of a part of what is left.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/try.mjs" <<'JS'
import { readFileSync } from 'node:fs';
const taken = () => Number(/VmSize:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 2 ** 20;
const before = taken();
export const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
console.log((taken() - before).toFixed(0));
JS
for version in 20.20.0 22.22.3 24.21.0; do
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --silent "node@$version" >/dev/null
  node="$dir/$version/node_modules/node/bin/node"
  before=$("$node" -e "console.log(/VmSize:\s*(\d+)/.exec(require('fs').readFileSync('/proc/self/status', 'latin1'))[1])")
  for left in 16 4 3 2; do
    # A quarter of a GiB more, for what the program itself takes until then.
    taken=$(ulimit -v $((before + left * 1048576 + 262144)) && "$node" --disable-wasm-trap-handler "$dir/try.mjs")
    echo "node $version, $left GiB left: $taken"
  done
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
node 20.20.0, 16 GiB left: 4
node 20.20.0, 4 GiB left: 4
node 20.20.0, 3 GiB left: 2
node 20.20.0, 2 GiB left: 1
node 22.22.3, 16 GiB left: 4
node 22.22.3, 4 GiB left: 4
node 22.22.3, 3 GiB left: 2
node 22.22.3, 2 GiB left: 1
node 24.21.0, 16 GiB left: 4
node 24.21.0, 4 GiB left: 4
node 24.21.0, 3 GiB left: 2
node 24.21.0, 2 GiB left: 1
SEEN
