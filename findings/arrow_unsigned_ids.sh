#!/usr/bin/env bash
# Expected: Arrow infers a type that holds the bigints it is given, or refuses the ones that do not fit.
# Happens: every bigint makes the column Int64. From 2^63 on it wraps to a negative number, from 2^64 on the high bits
#   are lost; two different ids become one. Nothing is said. With the type named (Uint64) the first case is right, the
#   second wraps as well.
# Versions: apache-arrow 21.2.0.
# Output seen: below, after SEEN.
# Why it matters: half of all 64-bit hashes of communicators are above 2^63. A join with another export by such an id
#   finds nothing. Name the type, or write ids as hexadecimal text.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent apache-arrow@21.2.0 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { Uint64, vectorFromArray } from 'apache-arrow';
const ids = [5n, 2n ** 63n + 5n, 2n ** 64n + 5n];
for (const [what, column] of [
  ['inferred', vectorFromArray(ids)],
  ['named', vectorFromArray(ids, new Uint64())],
])
  console.log(`${what} ${column.type}: ${[...column].join(', ')}`);
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
inferred Int64: 5, -9223372036854775803, 5
named Uint64: 5, 9223372036854775813, 5
SEEN
