// What happens to a job around NCCL: native/test/faults.cc, mounts.cc, mid_run.cc, ring_files.cc and saved_rings.cc. A
// sample here, more of it in the long run.

import { describe, test, type TestContext } from 'vitest';
import {
  expectPassed,
  IN_MEMORY,
  inNewFolder,
  PLUGIN,
  run,
  skipIfEmulated,
  type EmulatorLimit,
} from './programs.js';

const long = process.env.NCCL_TRACE_LONG === '1';

type Case = readonly [program: string, name: string];

async function passes([program, name]: Case, context: TestContext, more = {}): Promise<void> {
  skipIfEmulated(context, NEEDS[name]);
  await inNewFolder(async (folder) => {
    // The search for leaks stops all threads first, and would wait for one that nothing stops.
    const env = name === 'hanging-mount' ? { ASAN_OPTIONS: 'detect_leaks=0', ...more } : more;
    // Where file systems can be made, if at all.
    const path = `${process.env.PATH}:/usr/sbin:/sbin`;
    const much = long ? LONG[name] : undefined;
    const outcome = await run(program, [PLUGIN, folder, name, ...(much ? [String(much)] : [])], {
      env: { PATH: path, ...env },
      timeout: 1_200_000,
    });
    if (long) console.log(`${name}: ${outcome.stdout}`);
    expectPassed(outcome, context);
  });
}

/** How many times more than in the sample. */
const LONG: Readonly<Record<string, number>> = {
  'folder-deleted': 2,
  'single-core': 5,
  'many-threads': 25,
  'many-communicators': 5,
  'stuck-peer': 120,
  'how-soon': 60,
};

const NEEDS: Readonly<Record<string, EmulatorLimit>> = {
  'one-dies': 'start',
  'all-die': 'start',
  'other-pids': 'start',
  'other-mounts': 'start',
  'just-enough-shm': 'start',
  'huge-stacks': 'stack',
};

const casesOf = (program: string, names: readonly string[]): Case[] => names.map((name) => [program, name]);

// These count on their share of the machine.
test.for([
  ...casesOf('faults', [
    'parent-finalized',
    'single-core',
    'many-communicators',
    'memory-limit',
    'huge-stacks',
  ]),
  ...casesOf('mounts', ['disk-full-then-not', 'without-fallocate', 'file-systems']),
])('%s: %s', { timeout: 1_200_000 }, (one, context) => passes(one, context));

// Rings in a tmpfs, where no page is written back.
test.for(['flight', 'stream'])(
  'no system call, allocation, lock or page fault in a callback, in %s mode',
  { timeout: 600_000 },
  (mode, context) =>
    inNewFolder(async (folder) => {
      const outcome = await run('quiet', [PLUGIN, folder, long ? '10000' : '500', mode], {
        timeout: 600_000,
      });
      if (long) console.log(outcome.stdout);
      expectPassed(outcome, context);
    }, IN_MEMORY),
);

// Figures, not judged: the copies are made every 2 s, a survivor looks every second.
test.runIf(long)(
  'how soon rings are saved',
  (context) => passes(['saved_rings', 'how-soon'], context),
  1_200_000,
);

// These wait most of the time.
describe.concurrent('several at once', () => {
  test.for([
    ...casesOf('mounts', ['hanging-mount', 'folder-deleted']),
    ...casesOf('mid_run', [
      'a-neighbours-disk-hangs',
      'hangs-for-a-while',
      'hangs-until-the-end',
      'full-for-a-while',
      'full-at-the-start',
      'full-at-the-end',
    ]),
    ...casesOf('faults', ['too-many-communicators', 'many-threads', 'stuck-peer']),
    ...casesOf('saved_rings', ['all-die', 'one-dies', 'saver-dies', 'distrust', 'no-place']),
    ...casesOf('ring_files', [
      'in-order',
      'fork',
      'cut-off',
      'small-shm',
      'large-shm',
      'just-enough-shm',
      'full-shm',
    ]),
    ...casesOf('other_containers', [
      'other-pids',
      'other-mounts',
      'strange-proc',
      'fuse-hangs',
      'left-to-who-sees-them',
      'left-by-all',
    ]),
  ])('%s: %s', { timeout: 1_200_000 }, (one, context) => passes(one, context));

  const stream = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_EVENTS: 'coll' };
  test.for([
    ...casesOf('ring_files', ['in-order', 'cut-off']),
    ...casesOf('saved_rings', ['one-dies', 'all-die']),
  ])('in stream mode, %s: %s', { timeout: 1_200_000 }, (one, context) => passes(one, context, stream));
});
