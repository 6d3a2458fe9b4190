#!/usr/bin/env bash
# Expected: `vi.waitUntil(condition, { timeout: Infinity })` and `vi.waitFor` wait without a limit.
# Happens: both give up after a millisecond. The number goes to setTimeout as it is, which takes what does not fit into 31 bits for 1.
# Versions: vitest 4.1.12 (run on Node 20.20).
# Output seen: below, after SEEN.
# Why it matters: a test that waits for a job, a file or a rank "however long it takes on a busy machine" fails at once, and the message
#   speaks of a timeout. Wait in a loop of your own, or name a number of milliseconds below 2^31.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --silent vitest@4.1.12 >/dev/null

cat >"$dir/wait.test.mjs" <<'JS'
import { appendFileSync } from 'node:fs';
import { test, vi } from 'vitest';
const soon = () => {
  let done = false;
  setTimeout(() => (done = true), 50);
  return () => {
    if (!done) throw new Error('not yet');
    return true;
  };
};
const until = (condition) => () => {
  try {
    return condition();
  } catch {
    return false;
  }
};
test('waits', async () => {
  for (const timeout of [Infinity, 2 ** 31, 2 ** 31 - 1])
    for (const [name, wait] of Object.entries({
      waitUntil: () => vi.waitUntil(until(soon()), { timeout, interval: 10 }),
      waitFor: () => vi.waitFor(soon(), { timeout, interval: 10 }),
    })) {
      const end = await wait().then(() => 'waited', ({ message }) => `gave up: ${message}`);
      appendFileSync('seen', `${name}, ${timeout}: ${end}\n`);
    }
});
JS
(cd "$dir" && npx vitest run --reporter=dot wait.test.mjs >log 2>&1) || { cat "$dir/log" >&2; exit 1; }
cat "$dir/seen"

diff - "$dir/seen" <<'SEEN'
waitUntil, Infinity: gave up: Timed out in waitUntil!
waitFor, Infinity: gave up: not yet
waitUntil, 2147483648: gave up: Timed out in waitUntil!
waitFor, 2147483648: gave up: not yet
waitUntil, 2147483647: waited
waitFor, 2147483647: waited
SEEN
