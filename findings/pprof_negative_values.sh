#!/usr/bin/env bash
# Expected: the values and numeric labels of a profile, which are int64 in profile.proto, come back as they were written.
# Happens: pprof-format writes a negative number as every other library does, and reads it as an unsigned one: -1500 becomes
#   18446744073709550116. protoc reads -1500 from the same bytes.
# Versions: pprof-format 2.3.2, Debian protobuf-compiler 3.21.12.
# Output seen: below, after SEEN.
# Why it matters: a difference of two profiles (`pprof -diff_base`, memory that was freed) has negative values. A sum over what was read is
#   beyond 10^19, and a small saving becomes the largest entry. Convert what is read: BigInt.asIntN(64, value).
set -euo pipefail
version=$(protoc --version || true)
if [[ $version != 'libprotoc 3.21.12' ]]; then
  echo "needs protoc 3.21.12 (Debian 12: apt-get install protobuf-compiler), found ${version:-none}" >&2
  exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent pprof-format@2.3.2 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { writeFileSync } from 'node:fs';
import { Label, Profile, Sample, StringTable, ValueType } from 'pprof-format';
const stringTable = new StringTable();
const text = (word) => stringTable.dedup(word);
const waited = (value, change) =>
  new Sample({ locationId: [1], value: [value], label: [new Label({ key: text('change'), num: change })] });
const profile = new Profile({
  stringTable,
  sampleType: [new ValueType({ type: text('wait'), unit: text('nanoseconds') })],
  sample: [waited(200, 1), waited(-1500, -1n)],
});
const bytes = profile.encode();
writeFileSync(new URL('profile.pb', import.meta.url), bytes);
for (const { value, label } of Profile.decode(bytes).sample) console.log(`read: ${value[0]}, label ${label[0].num}`);
JS
# The fields of profile.proto that are looked at.
cat >"$dir/profile.proto" <<'PROTO'
syntax = "proto3";
message Label { int64 num = 3; }
message Sample { repeated int64 value = 2; repeated Label label = 3; }
message Profile { repeated Sample sample = 2; }
PROTO
{
  node "$dir/try.mjs"
  protoc --proto_path="$dir" --decode=Profile profile.proto <"$dir/profile.pb" | grep -E 'value|num' | sed 's/^ */protoc: /'
} | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
read: 200, label 1
read: 18446744073709550116, label 18446744073709551615
protoc: value: 200
protoc: num: 1
protoc: value: -1500
protoc: num: -1
SEEN
