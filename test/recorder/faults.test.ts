// What happens to a job around NCCL (native/test/faults.cc, ring_files.cc). A sample here, more of it in the long run.

import { describe, expect, test } from 'vitest';
import { EMULATED, IN_MEMORY, PLUGIN, inNewFolder, run, verdictOf } from './programs.js';

const long = process.env.NCCL_TRACE_LONG === '1';

async function expectPassed(program: string, name: string, more = {}): Promise<void> {
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
    expect(verdictOf(outcome)).toMatch(/^(PASSED|SKIPPED)$/);
    if (long) console.log(`${name}: ${outcome.stdout}`);
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

test.each([
  'parent-finalized',
  'folder-deleted',
  'hanging-mount',
  'disk-full-then-not',
  'single-core',
  'many-threads',
  'many-communicators',
  'stuck-peer',
  'memory-limit',
  'file-systems',
])('%s', (name) => expectPassed('faults', name), 1_200_000);

// Rings in a tmpfs, where no page is written back.
test.each(['flight', 'stream'])(
  'no system call, allocation, lock or page fault in a callback, in %s mode',
  (mode) =>
    inNewFolder(async (folder) => {
      const outcome = await run('quiet', [PLUGIN, folder, long ? '10000' : '500', mode], {
        timeout: 600_000,
      });
      expect(verdictOf(outcome)).toMatch(/^(PASSED|SKIPPED)$/);
      if (long) console.log(outcome.stdout);
    }, IN_MEMORY),
  600_000,
);

// They wait most of the time.
describe.concurrent('a disk that changes in mid-run', () => {
  test.each([
    'full-at-the-end',
    'full-for-a-while',
    'hangs-until-the-end',
    'hangs-for-a-while',
    'a-neighbours-disk-hangs',
  ])('%s', (name) => expectPassed('mid_run', name), 1_200_000);
});

// Figures, not judged: the copies are made every 2 s, a survivor looks every second.
test.runIf(long)('how soon rings are saved', () => expectPassed('ring_files', 'how-soon'), 1_200_000);

/** See EMULATED. */
const possible = (names: string[]): string[] =>
  names.filter((name) => !(EMULATED && ['one-dies', 'all-die', 'other-pids', 'other-mounts'].includes(name)));

describe.concurrent('rings in a file of their own', () => {
  test.each(
    possible([
      'in-order',
      'one-dies',
      'all-die',
      'saver-dies',
      'distrust',
      'fork',
      'small-shm',
      'large-shm',
      'other-pids',
      'other-mounts',
      'left-to-who-sees-them',
      'left-by-all',
    ]),
  )('%s', (name) => expectPassed('ring_files', name), 1_200_000);
});

describe.concurrent.each(possible(['in-order', 'one-dies', 'all-die']))(
  'in stream mode, rings in a file of their own',
  (name) => {
    test(
      name,
      () => expectPassed('ring_files', name, { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_EVENTS: 'coll' }),
      1_200_000,
    );
  },
);
