// What happens to a job around NCCL: native/test/faults.cc, mounts.cc, mid_run.cc, ring_files.cc and saved_rings.cc.

import { describe, test, type TestContext } from 'vitest';
import { expectPassed, inNewFolder, PLUGIN, run, skipIfEmulated, type EmulatorLimit } from './programs.js';

type Case = readonly [program: string, name: string];

/** What a case does so many times more often than it would: by its name. Its figures are printed then. */
export type More = Readonly<Record<string, number>>;

export async function passesCase(
  [program, name]: Case,
  context: TestContext,
  more: More,
  settings = {},
): Promise<void> {
  skipIfEmulated(context, NEEDS[name]);
  await inNewFolder(async (folder) => {
    // The search for leaks stops all threads first, and would wait for one that nothing stops.
    const env = name === 'hanging-mount' ? { ASAN_OPTIONS: 'detect_leaks=0', ...settings } : settings;
    // Where file systems can be made, if at all.
    const path = `${process.env.PATH}:/usr/sbin:/sbin`;
    const times = more[name];
    const outcome = await run(program, [PLUGIN, folder, name, ...(times ? [String(times)] : [])], {
      env: { PATH: path, ...env },
    });
    if (times !== undefined) console.log(`${name}: ${outcome.stdout}`);
    expectPassed(outcome, context);
  });
}

const NEEDS: Readonly<Record<string, EmulatorLimit>> = {
  'one-dies': 'start',
  'all-die': 'start',
  'other-pids': 'start',
  'other-mounts': 'start',
  'just-enough-shm': 'start',
  'huge-stacks': 'stack',
};

const casesOf = (program: string, names: readonly string[]): Case[] => names.map((name) => [program, name]);

export function expectFaults(more: More): void {
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
  ])('%s: %s', (one, context) => passesCase(one, context, more));

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
    ])('%s: %s', (one, context) => passesCase(one, context, more));

    const stream = { NCCL_TRACE_MODE: 'stream', NCCL_TRACE_EVENTS: 'coll' };
    test.for([
      ...casesOf('ring_files', ['in-order', 'cut-off']),
      ...casesOf('saved_rings', ['one-dies', 'all-die']),
    ])('in stream mode, %s: %s', (one, context) => passesCase(one, context, more, stream));
  });
}
