#!/usr/bin/env bash
# Expected: a column of nanoseconds since 1970 takes bigints and gives them back, as the columns Time, Duration and
#   Int64 of the same library do.
# Happens: TimestampNanosecond refuses bigints and takes milliseconds as a number. It multiplies them as doubles:
#   the stored nanoseconds of a whole millisecond are wrong by up to 128 ns.
# Versions: apache-arrow 21.2.0.
# Output seen: below, after SEEN.
# Why it matters: whoever exports a timeline to Arrow with its own nanosecond type loses what NCCL's stamps are exact
#   to, and whole milliseconds do not stay whole. Write Int64 nanoseconds.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent apache-arrow@21.2.0 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { DurationNanosecond, Int64, TimeNanosecond, TimestampNanosecond, vectorFromArray } from 'apache-arrow';
const at = 1_700_000_000_123_456_789n;
function show(what, value, type) {
  try {
    const column = vectorFromArray([value], type);
    console.log(`${what}: gives ${column.get(0)}, stored ${column.data[0].values[0]}`);
  } catch (error) {
    console.log(`${what}: ${error.message}`);
  }
}
show('Int64 of a bigint', at, new Int64());
show('TimeNanosecond of a bigint', at, new TimeNanosecond());
show('DurationNanosecond of a bigint', at, new DurationNanosecond());
show('TimestampNanosecond of a bigint', at, new TimestampNanosecond());
show('TimestampNanosecond of 1700000000123 ms', 1_700_000_000_123, new TimestampNanosecond());
show('TimestampNanosecond of a Date', new Date(1_700_000_000_123), new TimestampNanosecond());
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
Int64 of a bigint: gives 1700000000123456789, stored 1700000000123456789
TimeNanosecond of a bigint: gives 1700000000123456789, stored 1700000000123456789
DurationNanosecond of a bigint: gives 1700000000123456789, stored 1700000000123456789
TimestampNanosecond of a bigint: Cannot mix BigInt and other types, use explicit conversions
TimestampNanosecond of 1700000000123 ms: gives 1700000000123, stored 1700000000123000064
TimestampNanosecond of a Date: gives 1700000000123, stored 1700000000123000064
SEEN
