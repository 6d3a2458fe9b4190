#!/usr/bin/env bash
# Expected: protobufjs 7 and 8 decode the same bytes to the same message.
# Happens: a singular message field that comes twice is merged by 8 (what the encoding asks for) and replaced by 7.
#   An enum number that a proto2 schema lacks is kept by 7 and dropped by 8: decode and encode again, and it is gone.
#   In a oneof with two values 7 shows both members, 8 the last.
# Versions: protobufjs 7.5.4 and 8.8.1.
# Output seen: below, after SEEN.
# Why it matters: Perfetto's schema is proto2 and gains enum numbers with every release; writers may split a message
#   field. A tool that reads, filters and writes a trace changes it with the major version of its decoder.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/try.mjs" <<'JS'
import protobuf from 'protobufjs';
const { root } = protobuf.parse(`
  syntax = "proto2";
  message Event { optional int32 rank = 1; optional int32 seq = 2; repeated int32 peers = 3; }
  enum Kind { CALL = 0; KERNEL = 1; }
  message Packet {
    optional Event event = 1;
    optional Kind kind = 2;
    oneof data { Event begin = 3; Event end = 4; }
  }`);
const Packet = root.lookupType('Packet');
const bytes = (hex) => Buffer.from(hex, 'hex');
const show = (what, hex) => {
  const packet = Packet.decode(bytes(hex));
  const again = Buffer.from(Packet.encode(packet).finish()).toString('hex');
  console.log(`${what}: ${JSON.stringify(packet)} again: ${again || 'nothing'}`);
};
show('event twice', '0a0408011805' + '0a0410021806');
show('kind 7', '1007');
show('begin, then end', '1a020801' + '22021002');
JS
for version in 7.5.4 8.8.1; do
  npm install --prefix "$dir/$version" --no-save --no-audit --no-fund --ignore-scripts --silent "protobufjs@$version" >/dev/null
  cp "$dir/try.mjs" "$dir/$version/"
  echo "protobufjs $version"
  node "$dir/$version/try.mjs"
done | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
protobufjs 7.5.4
event twice: {"event":{"seq":2,"peers":[6]}} again: 0a0410021806
kind 7: {"kind":7} again: 1007
begin, then end: {"begin":{"rank":1},"end":{"seq":2}} again: 1a02080122021002
protobufjs 8.8.1
event twice: {"event":{"rank":1,"seq":2,"peers":[5,6]}} again: 0a080801100218051806
kind 7: {} again: nothing
begin, then end: {"end":{"seq":2}} again: 22021002
SEEN
