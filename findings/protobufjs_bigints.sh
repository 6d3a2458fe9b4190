#!/usr/bin/env bash
# Expected: what toObject gives with `longs: BigInt` can be encoded again, since protobufjs 8 knows bigints.
# Happens: encode writes 0 for every bigint of a 64-bit field, without an error. fromObject
#   takes bigints, numbers and texts, and its message is encoded in full.
# Versions: protobufjs 8.8.1 with long 5.3.2.
# Output seen: below, after SEEN.
# Why it matters: times in ns, track ids and flow ids of Perfetto's traces are 64-bit. A program that reads, changes and writes a
#   trace sets all of them to 0. Pass what is encoded through fromObject, or write Longs.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent protobufjs@8.8.1 long@5.3.2 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import { inspect } from 'node:util';
import protobuf from 'protobufjs';
const { root } = protobuf.parse(`syntax = "proto2";
  message Packet { optional uint64 timestamp = 1; repeated fixed64 flow_ids = 2; optional sint64 offset = 3; }`);
const Packet = root.lookupType('Packet');
const decoded = (bytes) => Packet.toObject(Packet.decode(bytes), { longs: BigInt });
const show = (name, packet) => console.log(`${name}:`, inspect(packet, { breakLength: Infinity }));

const written = { timestamp: '1700000000123456789', flowIds: ['18446744073709551615'], offset: '-5' };
const packet = decoded(Packet.encode(Packet.fromObject(written)).finish());
show('read', packet);
show('encode', decoded(Packet.encode(packet).finish()));
show('fromObject, encode', decoded(Packet.encode(Packet.fromObject(packet)).finish()));
JS
cd "$dir"
node try.mjs | tee seen

diff - seen <<'SEEN'
read: { timestamp: 1700000000123456789n, flowIds: [ 18446744073709551615n ], offset: -5n }
encode: { timestamp: 0n, flowIds: [ 0n ], offset: 0n }
fromObject, encode: { timestamp: 1700000000123456789n, flowIds: [ 18446744073709551615n ], offset: -5n }
SEEN
