#!/usr/bin/env bash
# Expected: a whole number in an f64 is the nearest double, as in TypeScript, or does not compile if it is beyond 64 bits.
# Happens: it is read as a 64-bit integer first, then taken as signed: from 2^63 on the double is negative, and 2^64 - 1 is -1.
#   Beyond 2^64 some are refused and some wrap: 2e19, written out, does not compile, and 3e19 is -6893488147419103232.
#   With ".0" all are right.
# Versions: assemblyscript 0.28.20.
# Output seen: below, after SEEN.
# Why it matters: limits such as the largest counter, and sums in ns, are written out. tsc reads the same source and sees nothing.
#   Write such a number with a fraction or an exponent.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent assemblyscript@0.28.20 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import asc from 'assemblyscript/asc';

async function valueOf(literal) {
  const { binary, stderr } = await asc.compileString(`export function value(): f64 { return ${literal}; }`, {});
  if (!binary) return /AS\d+/.exec(stderr.toString())[0];
  const { instance } = await WebAssembly.instantiate(binary, { env: { abort() {} } });
  return BigInt(instance.exports.value());
}
for (const literal of [
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551615',
  '20000000000000000000',
  '30000000000000000000',
  '30000000000000000000.0',
  '3e19',
])
  console.log(`${literal}: ${await valueOf(literal)}`);
JS
cd "$dir"
node try.mjs | tee seen

diff - seen <<'SEEN'
9223372036854775807: 9223372036854775808
9223372036854775808: -9223372036854775808
18446744073709551615: -1
20000000000000000000: AS236
30000000000000000000: -6893488147419103232
30000000000000000000.0: 30000000000000000000
3e19: 30000000000000000000
SEEN
