// What a callback does not do: native/test/quiet.cc.

import { test } from 'vitest';
import { passes } from './programs.js';
import { builtNative } from '../support/jobs/native.js';
import { inTier } from '../support/tiers/tier.js';

const CALLBACKS = inTier({ first: '500', long: '10000' });

// Rings in a tmpfs, where no page is written back.
test.for(['flight', 'stream'])(
  'no system call, allocation, lock or page fault in a callback, in %s mode',
  (mode, context) => passes(context, ['quiet', CALLBACKS, mode]),
);

test('nor in what hands it on to another plugin', async (context) => {
  const [stub] = await builtNative('libnccl-profiler-stub.so');
  await passes(context, ['quiet', CALLBACKS, 'flight'], { NCCL_TRACE_CHAIN: stub });
});
