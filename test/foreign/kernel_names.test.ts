/** What names of NCCL's kernels say, in older and newer versions, and the types of collectives that run in them. */

import { expect, it } from 'vitest';
import { kernelName, typeName } from '../../src/foreign/beside/kernel_names.js';

it.each([
  ['ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'AllReduce', 'bf16'],
  ['ncclDevKernel_ReduceScatter_Sum_u64_TREE_LL(ncclDevKernelArgs4K)', 'ReduceScatter', 'u64'],
  ['ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)', 'AllReduce', 'f32'],
  ['ncclKernel_AllReduce_RING_LL_Sum_int64_t(ncclWorkElem)', 'AllReduce', 'u64'],
  ['ncclKernel_Reduce_RING_LL_Sum___nv_bfloat16(ncclWorkElem)', 'Reduce', 'bf16'],
  ['ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)', 'Broadcast', null],
  ['ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymkDevWorkArgs4K)', 'AllReduce', 'f32'],
  ['ncclDevKernel_AllReduce_Sum_f8e4m3_RING_LL(ncclDevKernelArgs4K)', 'AllReduce', null],
  ['ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'SendRecv', null],
  ['ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)', null, null],
])('%s', (name, func, type) => {
  expect(kernelName(name)).toEqual({ func, type });
});

it('no kernel of NCCL is one by its arguments', () => {
  expect(kernelName('void at::native::copy<ncclDevKernel>(int)')).toBeNull();
});

it('a sum of signed integers runs as one of unsigned ones', () => {
  for (const name of ['ncclInt64', 'ncclUint64', 'i64', 'u64', 'int64'])
    expect([name, typeName(name)]).toEqual([name, 'u64']);
  expect(['ncclInt8', 'ncclInt32', 'ncclFloat16', 'ncclBfloat16', 'ncclFloat8e4m3'].map(typeName)).toEqual([
    'u8',
    'u32',
    'f16',
    'bf16',
    null,
  ]);
});
