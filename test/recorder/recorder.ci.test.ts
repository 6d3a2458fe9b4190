// The recorder, driven by its C++ test programs (native/test/). What each case does is written there. recorder.test.ts has the first of them.

import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Kind } from '../../src/rankfile/format/constants.js';
import { openRankFile } from '../../src/rankfile/index.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';
import {
  EMULATED,
  IN_MEMORY,
  PLUGIN,
  inNewFolder,
  run,
  SANITIZER,
  verdictOf,
  passes,
  programFile,
} from './programs.js';

test.for([1, 2, 3, 4, 5, 7])('every event type of ABI version %i', (version, context) =>
  passes(context, ['abi_versions', String(version)]),
);

test.for([
  ["NCCL's, a library that says its version", 'libnccl.so.2'],
  ["RCCL's, which has no user tags and other versions", 'librccl.so.1'],
])('version 7 is %s', async ([, name], context) => {
  const { folder, remove } = temporaryFolder();
  const library = path.join(folder, name!);
  copyFileSync(await programFile('libnccl-profiler-stub.so'), library);
  await passes(context, ['abi_versions', '7', library]);
  remove();
});

test('repeats become counts', (context) => passes(context, ['folding']));

describe('ordinals', () => {
  test('of connections, peers and replays', (context) => passes(context, ['ordinals', 'all']));
  test('go on while sampled out', (context) => passes(context, ['ordinals', 'sampled']));
});

describe('abuse', () => {
  test.for([
    'misuse',
    'concurrent-init',
    'unload',
    'fork',
    'exit-without-finalize',
    'threads-come-and-go',
    'too-many-communicators',
  ])('%s', (name, context) => passes(context, ['abuse', name]));
});

const PUPPET = await programFile('puppet');

test('what NCCL reports after exit() is kept as long as the process is there', async () => {
  const { folder, remove } = temporaryFolder();
  const rings = path.join(folder, 'rings');
  mkdirSync(rings);
  const words = `(printf 'coll 10\\nlate 100\\n'; sleep 4) | "$0" "$1" | (sleep 3; cat >/dev/null)`;
  const env = { ...process.env, NCCL_TRACE_DIR: folder, NCCL_TRACE_RING_DIR: rings, RANK: '0' };
  await promisify(execFile)('sh', ['-c', words, PUPPET, PLUGIN], { env });
  const file = openRankFile(path.join(folder, 'rank00000.bin'));
  const kinds = file.rings.flatMap(({ records }) => [...records.kind]);
  const { life, placement } = file.header;
  expect({ life, placement, left: readdirSync(rings) }).toEqual({
    life: 'closed',
    placement: 'in-ring-file',
    left: [],
  });
  expect(kinds.filter((kind) => kind === Kind.StartColl)).toHaveLength(110);
  expect(kinds.filter((kind) => kind === Kind.Stop)).toHaveLength(110);
  remove();
});

const OTHER = await programFile('libnccl-profiler-stub.so');
const stream = { NCCL_TRACE_MODE: 'stream' };

// These wait most of the time.
describe.concurrent('several at once', () => {
  // A sanitizer has a thread of its own that never ends, and so has the emulator.
  test.runIf(SANITIZER === '' && !EMULATED).for([
    ['flight', 'none'],
    ['flight', IN_MEMORY],
    ['stream', 'none'],
  ] as const)(
    'main leaves by pthread_exit, in %s mode, rings in %s: the process ends',
    ([mode, rings], context) =>
      passes(context, ['abuse', 'main-thread-leaves'], {
        NCCL_TRACE_MODE: mode,
        NCCL_TRACE_RING_DIR: rings,
      }),
  );

  test.for(['dead-disk', 'busy-disk', 'slow-disk'])('bad place: %s', (name, context) =>
    passes(context, ['bad_places', name]),
  );
  test('bad place, in stream mode: slow-disk', (context) =>
    passes(context, ['bad_places', 'slow-disk'], stream));

  test(
    'everything at once, for a while (npm run soak: for ten minutes)',
    // A forked child ends without the threads that own some of its memory, which would count as a leak. The program watches its memory itself.
    (context) => passes(context, ['soak', '1'], { ASAN_OPTIONS: 'detect_leaks=0' }),
  );
});

describe('beside another plugin', () => {
  test.for([
    ['plugin-first', 'local'],
    ['plugin-first', 'global'],
    ['other-first', 'local'],
    ['other-first', 'global'],
  ] as const)('%s, %s', ([order, scope], context) => passes(context, ['beside', OTHER, order, scope]));
});

describe('bad places', () => {
  test.for([
    'no-permission',
    'not-a-folder',
    'read-only',
    'disk-full',
    'file-size-limit',
    'not-to-be-mapped',
    'nothing-is-overwritten',
    'small-budget',
  ])('%s', (name, context) => passes(context, ['bad_places', name]));
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
      // Our reader accepts what the program's own reader accepted: a file whose newer lap lies before the older one.
      const [, file, records] = /^two laps: (.+), (\d+) records$/m.exec(outcome.stdout)!;
      const { rings, problems } = openRankFile(file!);
      expect(problems).toEqual([]);
      expect(rings[1]!.records.length).toBe(Number(records));
      expect(rings[1]!.gaps.map(({ cause }) => cause)).toEqual(['dropped']);
    }));

  test.for([
    'more-than-the-ring',
    'retired-and-shared-rings',
    'reopened',
    'limit',
    'disk-full',
    'file-size-limit',
    'descriptor-lost',
    'rings-in-memory',
    'fork',
  ])('%s', (name, context) => passes(context, ['stream', name]));

  test.for(['misuse', 'concurrent-init', 'unload', 'fork', 'exit-without-finalize', 'threads-come-and-go'])(
    'abuse: %s',
    (name, context) => passes(context, ['abuse', name], stream),
  );
  test.for(['no-permission', 'disk-full', 'small-budget'])('bad place: %s', (name, context) =>
    passes(context, ['bad_places', name], stream),
  );
});
