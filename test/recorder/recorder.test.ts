// The recorder, driven by its C++ test programs (native/test/). What each case does is written there.

import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRankFile } from '../../src/reader/index.js';
import { EMULATED, IN_MEMORY, PLUGIN, inNewFolder, run, verdictOf } from './programs.js';

const long = process.env.NCCL_TRACE_LONG === '1';

async function expectPassed(program: string, ...more: string[]): Promise<void> {
  await expectPassedWith({}, program, ...more);
}

async function expectPassedWith(
  env: Record<string, string>,
  program: string,
  ...more: string[]
): Promise<void> {
  await inNewFolder(async (folder) => {
    const outcome = await run(program, [PLUGIN, folder, ...more], { env, timeout: 1_200_000 });
    expect(verdictOf(outcome)).toMatch(/^(PASSED|SKIPPED)$/);
  }, IN_MEMORY);
}

test('slots, handles, rings and plans', async () => {
  expect(verdictOf(await run('slots', []))).toBe('PASSED');
});

test('a name that is never found', async () => {
  expect(verdictOf(await run('name_lookup', []))).toBe('PASSED');
});

test('every kind of record, written and read back raw', () => expectPassed('record_kinds'));

test.each([1, 2, 3, 4, 5, 6, 7])('every event type of ABI version %i', (version) =>
  expectPassed('abi_versions', String(version)),
);

test('repeats become counts', () => expectPassed('folding'));

describe('ordinals', () => {
  test('of connections, peers and replays', () => expectPassed('ordinals', 'all'));
  test('go on while sampled out', () => expectPassed('ordinals', 'sampled'));
});

test.each([
  { how: ['flight'] },
  { how: ['stream'] },
  { how: ['flight', 'ring-file'] },
  { how: ['stream', 'ring-file'] },
])(
  'SIGKILL at any instant loses no record whose callback has returned: $how',
  ({ how }) => expectPassed('sigkill', long ? '1000' : '10', long ? '2' : '1', ...how),
  1_200_000,
);

/** See EMULATED. */
const possible = (names: string[]): string[] => names.filter((name) => !(EMULATED && name === 'fork'));

describe('abuse', () => {
  test.each(
    possible([
      'misuse',
      'concurrent-init',
      'unload',
      'fork',
      'exit-without-finalize',
      'threads-come-and-go',
      'too-many-communicators',
    ]),
  )('%s', (name) => expectPassed('abuse', name));
});

test(
  'everything at once, for a while (npm run soak: for ten minutes)',
  () => expectPassed('soak', '1'),
  1_200_000,
);

describe('beside another plugin', () => {
  const other = path.join(path.dirname(PLUGIN), 'libnccl-profiler-echo.so');
  test.each([
    ['plugin-first', 'local'],
    ['plugin-first', 'global'],
    ['other-first', 'local'],
    ['other-first', 'global'],
  ])('%s, %s', (order, scope) => expectPassed('beside', other, order, scope));
});

describe('bad places', () => {
  test.each([
    'no-permission',
    'not-a-folder',
    'read-only',
    'disk-full',
    'file-size-limit',
    'not-to-be-mapped',
    'slow-disk',
    'dead-disk',
    'nothing-is-overwritten',
    'small-budget',
  ])('%s', (name) => expectPassed('bad_places', name));
});

test('a descriptor that the job has closed and given to its own file', () =>
  inNewFolder(async (folder) => {
    expect(verdictOf(await run('descriptors', [folder]))).toBe('PASSED');
  }));

describe('stream mode', () => {
  test('draining, lapping, holes, the limit, full disks', () =>
    inNewFolder(async (folder) => {
      const outcome = await run('draining', [folder]);
      expect(verdictOf(outcome)).toBe('PASSED');
      // What the program's own reader was content with, ours is as well: a file whose newer lap stands before the older.
      const [, file, records] = /^two laps: (.+), (\d+) records$/m.exec(outcome.stdout)!;
      const { rings, problems } = openRankFile(file!);
      expect(problems).toEqual([]);
      expect(rings[1]!.records.length).toBe(Number(records));
      expect(rings[1]!.gaps.map(({ cause }) => cause)).toEqual(['dropped']);
    }));

  test.each([
    'more-than-the-ring',
    'retired-and-shared-rings',
    'reopened',
    'limit',
    'disk-full',
    'file-size-limit',
    'descriptor-lost',
    'rings-in-memory',
    'fork',
  ])('%s', (name) => expectPassed('stream', name));

  const stream = { NCCL_TRACE_MODE: 'stream' };
  test.each(
    possible(['misuse', 'concurrent-init', 'unload', 'fork', 'exit-without-finalize', 'threads-come-and-go']),
  )('abuse: %s', (name) => expectPassedWith(stream, 'abuse', name));
  test.each(['no-permission', 'disk-full', 'slow-disk', 'small-budget'])('bad place: %s', (name) =>
    expectPassedWith(stream, 'bad_places', name),
  );
});
