// One build at a time in a checkout: a second one waits for the first and then finds everything built. The owner touches the lock file
// every second. A lock left by a killed build is recognized because it is not touched. This also works between hosts that share
// the checkout, where process ids say nothing.
//
// Two builds at once do no harm, because results are renamed into place. They would only do the work twice.

import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout } from 'node:timers/promises';

const TOUCH_MS = 1_000;
const LEFT_BEHIND_MS = 10_000;
const LOOK_MS = 100;

/**
 * @template T
 * @param {string} folder  made if it is not there; throws the system's own error where it cannot be written
 * @param {() => void} onWait  called once, when somebody else builds
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withBuildLock(folder, onWait, work) {
  mkdirSync(folder, { recursive: true });
  const lock = path.join(folder, '.lock');
  await take(lock, onWait);
  const touching = setInterval(() => touch(lock), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    rmSync(lock, { force: true });
  }
}

async function take(lock, onWait) {
  let seen;
  let seenAt = 0;
  while (!tryTake(lock)) {
    if (seen === undefined) onWait();
    const touched = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (touched !== seen) [seen, seenAt] = [touched, performance.now()];
    else if (performance.now() - seenAt > LEFT_BEHIND_MS) rmSync(lock, { force: true });
    await setTimeout(LOOK_MS);
  }
}

function tryTake(lock) {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** It may have been taken for one left behind, by a process that was asleep with us. */
function touch(lock) {
  try {
    const now = new Date();
    utimesSync(lock, now, now);
  } catch {
    // Then two builds run, and both make the same files.
  }
}
