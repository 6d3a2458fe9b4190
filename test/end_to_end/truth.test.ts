/**
 * The trace shows what the loopback did: the same collectives, operations, steps and bytes on every rank. The trace and the
 * loopback's own account share only the callbacks.
 */

import { describe, it } from 'vitest';
import { expectTraceIsTrue, runAndMerge } from '../support/traces/trace_truth.js';

describe('the trace matches the work of the loopback', () => {
  it('on 2 ranks: AllReduce in both protocols, send and receive', async () => {
    const ops = 'allreduce:1M,allreduce:24K/ll,group{send+recv:1M}';
    expectTraceIsTrue(await runAndMerge(2, `--channels 2 --iterations 2 --ops ${ops}`));
  });

  it.each([1, 2, 3, 4, 5, 6, 7])('through interface v%d, as the NCCL that speaks it', async (abi) => {
    const ops = 'allreduce:256K,allreduce:16K/ll,group{send+recv:128K}';
    expectTraceIsTrue(await runAndMerge(2, `--abi ${abi} --channels 2 --iterations 2 --ops ${ops}`), abi);
  });
});
