#!/usr/bin/env bash
# Expected: a reader of Python's pickles gives an integer, rounded at worst to a double, or refuses it.
# Happens: jpickle reads every integer that does not fit a signed 32-bit number as 0, if the pickle is of protocol 2
#   (opcode LONG1). It rounds the same numbers in protocol 0. pickleparser rounds in both, with a warning.
# Versions: jpickle 0.4.1, pickleparser 0.2.1.
# Output seen: below, after SEEN. The pickles are {"time_created_ns": 1700000000123456789, "bytes": 3000000000, "pg_id": 3}.
# Why it matters: PyTorch's Flight Recorder dumps are protocol 2, and its times are nanoseconds since 1970. Read with
#   jpickle, every entry was created at 0 and took no time. Read them with Python.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent \
  jpickle@0.4.1 pickleparser@0.2.1 >/dev/null

cat >"$dir/try.mjs" <<'JS'
import jpickle from 'jpickle';
import { Parser } from 'pickleparser';

// What Python's pickle.dumps(…, protocol) returned.
const pickles = {
  'protocol 0':
    'KGRwMApWdGltZV9jcmVhdGVkX25zCnAxCkwxNzAwMDAwMDAwMTIzNDU2Nzg5TApzVmJ5dGVzCnAyCkwzMDAwMDAwMDAwTApzVnBnX2lkCnAzCkkzCnMu',
  'protocol 2':
    'gAJ9cQAoWA8AAAB0aW1lX2NyZWF0ZWRfbnNxAYoIFc2FPf6clxdYBQAAAGJ5dGVzcQKKBQBe0LIAWAUAAABwZ19pZHEDSwN1Lg==',
};
const quiet = (read) => {
  const { warn, error } = console;
  console.warn = console.error = () => {};
  try {
    return JSON.stringify(read());
  } catch (failure) {
    return failure.message;
  } finally {
    Object.assign(console, { warn, error });
  }
};
for (const [protocol, text] of Object.entries(pickles)) {
  const bytes = Buffer.from(text, 'base64');
  console.log(`jpickle, ${protocol}:`, quiet(() => jpickle.loads(bytes.toString('latin1'))));
  console.log(`pickleparser, ${protocol}:`, quiet(() => new Parser().parse(bytes)));
}
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
jpickle, protocol 0: {"time_created_ns":1700000000123456800,"bytes":3000000000,"pg_id":3}
pickleparser, protocol 0: {"time_created_ns":1700000000123456800,"bytes":3000000000,"pg_id":3}
jpickle, protocol 2: {"time_created_ns":0,"bytes":0,"pg_id":3}
pickleparser, protocol 2: {"time_created_ns":1700000000123456800,"bytes":3000000000,"pg_id":3}
SEEN
