// The recorder, driven by its C++ test programs (native/test/). What each case does is written there.

import { expect, test } from 'vitest';
import { run, verdictOf, passes } from './programs.js';

test('slots, handles, rings and plans', async () => {
  expect(verdictOf(await run('slots', []))).toBe('PASSED');
});

test('handles of other plugins', async () => {
  expect(verdictOf(await run('handles', []))).toBe('PASSED');
});

test('the mount of a path', async () => {
  expect(verdictOf(await run('mount_of', []))).toBe('PASSED');
});

test('every event type of ABI version 6, the header and the tables', (context) =>
  passes(context, ['abi_versions', '6']));
