// Callbacks of all kinds, from more threads than there are rings: native/test/crowd.cc.

import { describe, test } from 'vitest';
import { IN_MEMORY, passes } from './programs.js';

/** `changes`: how often it is told to record otherwise meanwhile. The recorder looks once a second. */
export function expectCrowd(changes: number): void {
  describe.concurrent('callbacks of all kinds at once', () => {
    test.for([
      ['flight, rings in the file', {}],
      ['flight, rings copied', { NCCL_TRACE_RING_DIR: IN_MEMORY }],
      ['stream', { NCCL_TRACE_MODE: 'stream' }],
    ] as const)('%s', ([, env], context) => passes(context, ['crowd', String(changes)], env));
  });
}
