#!/usr/bin/env bash
# Expected: a timer that a task leaves behind runs when its time comes, as in any Node process.
# Happens: it does not run while the worker idles, because the idle worker's thread sleeps in Atomics.wait. It runs
#   between two later tasks, if ever. With `atomics: 'disabled'` it runs in time. tinypool does the same as piscina.
# Versions: piscina 5.3.2, tinypool 2.2.0 (run on Node 20.20).
# Output seen: below, after SEEN: how often the timer of 50 ms had run at the start of each task, a second apart.
# Why it matters: a worker that reads rank files between two looks at a job does not drop its cache, flush its output
#   or close an idle connection by a timer. Do it at the end of the task, or turn atomics off.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
npm install --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts --silent piscina@5.3.2 tinypool@2.2.0 >/dev/null

cat >"$dir/task.mjs" <<'JS'
let ran = 0;
export default () => {
  setTimeout(() => ran++, 50);
  return ran;
};
JS
cat >"$dir/try.mjs" <<'JS'
import { setTimeout } from 'node:timers/promises';
import { Piscina } from 'piscina';
import { Tinypool } from 'tinypool';
const filename = new URL('task.mjs', import.meta.url).href;

async function tasksOf(pool) {
  const ran = [];
  for (let task = 0; task < 3; task++) {
    ran.push(await pool.run());
    await setTimeout(1000);
  }
  await pool.destroy();
  return ran;
}
const one = { filename, minThreads: 1, maxThreads: 1 };
console.log('piscina:', await tasksOf(new Piscina(one)));
console.log('piscina, atomics disabled:', await tasksOf(new Piscina({ ...one, atomics: 'disabled' })));
console.log('tinypool:', await tasksOf(new Tinypool({ ...one, isolateWorkers: false })));
JS
node "$dir/try.mjs" | tee "$dir/seen"

diff - "$dir/seen" <<'SEEN'
piscina: [ 0, 0, 0 ]
piscina, atomics disabled: [ 0, 1, 2 ]
tinypool: [ 0, 0, 0 ]
SEEN
