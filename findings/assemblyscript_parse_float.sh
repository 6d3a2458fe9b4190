#!/usr/bin/env bash
# Expected: parseFloat gives the double that is nearest to the text, so that a number survives toString and parseFloat.
# Happens: about half of the doubles between 1e39 and 1e53 do not. Some are wrong in the last digit, some
#   by a factor of ten to a hundred thousand. Elsewhere almost all survive.
# Versions: assemblyscript 0.28.20.
# Output seen: below, after SEEN.
# Why it matters: sums of squares of times in ns since 1970 are that large. Pass numbers as bits, not as text.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent assemblyscript@0.28.20 >/dev/null

cat >"$dir/kernel.ts" <<'TS'
export function parsed(text: string): f64 {
  return parseFloat(text);
}
/** How many of 1,000 numbers from 10^exponent on survive. */
export function survivors(exponent: i32): i32 {
  let count = 0;
  for (let i = 1; i <= 1000; i++) {
    const number = Math.pow(10, exponent) * (1 + <f64>i / 111.3);
    count += i32(parseFloat(number.toString()) == number);
  }
  return count;
}
TS
cd "$dir"
echo '{ "type": "module" }' >package.json
npx asc kernel.ts --bindings esm -o kernel.wasm >/dev/null
cat >try.mjs <<'JS'
import { parsed, survivors } from './kernel.js';
for (const text of ['9.110387218665048e39', '4.0503036103688503e43', '9.110387218665048e37'])
  console.log(`${text}: ${parsed(text)}`);
for (const exponent of [-40, 0, 19, 36, 39, 43, 47, 52, 56, 100]) console.log(`1e${exponent}: ${survivors(exponent)} of 1000`);
JS
node try.mjs | tee seen

diff - seen <<'SEEN'
9.110387218665048e39: 9.110387218665048e+37
4.0503036103688503e43: 4.05030361036885e+38
9.110387218665048e37: 9.110387218665048e+37
1e-40: 1000 of 1000
1e0: 1000 of 1000
1e19: 1000 of 1000
1e36: 1000 of 1000
1e39: 484 of 1000
1e43: 497 of 1000
1e47: 461 of 1000
1e52: 521 of 1000
1e56: 1000 of 1000
1e100: 1000 of 1000
SEEN
