// Channels, loops and steps, against figures worked out from NCCL's formulas (enqueue.cc) and its own logs.

import { describe, expect, test } from 'vitest';
import { runRaw } from './loopback.js';

interface PartitionedOp {
  proto: string;
  nChannels: number;
  chunkSize: number;
  loops: number;
  stepsPerOp: number;
  opsPerRank: number;
  stepsPerRank: number;
  parts: { channel: number; bytes: number; nSteps: number }[];
}

async function partitionOf(args: string): Promise<PartitionedOp[]> {
  const { code, stdout } = await runRaw(`${args} --partition`);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { partition: PartitionedOp[] }).partition;
}

describe('ring AllReduce', () => {
  test.each([
    // ranks, size, channels, protocol -> loops, steps per operation, operations per rank, steps per rank
    [2, '1M', 2, 'simple', 1, 4, 4, 16],
    [8, '1M', 2, 'll', 2, 28, 4, 112],
    [8, '64M', 8, 'simple', 1, 28, 16, 448],
    [8, '64M', 8, 'll128', 2, 28, 16, 448],
    [8, '64M', 8, 'll', 32, 448, 16, 7168],
    [8, '1G', 16, 'simple', 4, 112, 32, 3584],
    [64, '1G', 16, 'simple', 1, 252, 32, 8064],
    [64, '1G', 16, 'll', 32, 4032, 32, 129024],
  ])('%i ranks, %s, %i channels, %s', async (ranks, size, channels, proto, loops, stepsPerOp, ops, steps) => {
    const [op] = await partitionOf(
      `--ranks ${ranks} --channels ${channels} --ops allreduce:${size}/${proto}`,
    );
    expect(op).toMatchObject({
      nChannels: channels,
      loops,
      stepsPerOp,
      opsPerRank: ops,
      stepsPerRank: steps,
    });
  });

  test('reports chunk times sliceSteps as chunk size, which is more than any transfer', async () => {
    const ops = await partitionOf('--ranks 8 --channels 8 --ops allreduce:64M/simple,allreduce:64M/ll');
    expect(ops.map((op) => op.chunkSize)).toEqual([4 * 2 ** 20, 32 * 2 ** 10]);
  });

  test('a small buffer does not use all channels: 32 KiB of traffic each', async () => {
    const ops = await partitionOf(
      '--ranks 4 --channels 8 --ops allreduce:16K/simple,allreduce:48K/simple,allreduce:64/ll',
    );
    expect(ops.map((op) => op.nChannels)).toEqual([1, 3, 1]);
  });
});

test('AllGather and ReduceScatter take half as many hops', async () => {
  const ops = await partitionOf('--ranks 8 --channels 8 --ops allgather:64M/simple,reducescatter:64M/simple');
  for (const op of ops)
    expect(op).toMatchObject({ loops: 1, stepsPerOp: 14, opsPerRank: 16, stepsPerRank: 224 });
});

describe('Send and Recv', () => {
  test.each([
    // ranks, channels (all for one peer, if the size is large), size -> protocol, channels, steps per channel, chunk
    [2, 2, '1M', 'SIMPLE', 2, 4, 128 * 1024],
    [8, 8, '256M', 'SIMPLE', 8, 256, 128 * 1024],
    [2, 4, '512K', 'SIMPLE', 4, 2, 64 * 1024],
    [2, 2, '100K', 'SIMPLE', 1, 4, 32 * 1024],
    [2, 2, '16K', 'LL', 1, 1, 32 * 1024],
    [2, 2, '0', 'LL', 1, 1, 32 * 1024],
  ])('%i ranks, %i channels, %s', async (ranks, channels, size, proto, nChannels, stepsPerOp, chunkSize) => {
    const [send] = await partitionOf(
      `--ranks ${ranks} --channels ${channels} --peer-channels ${channels} --ops send:${size}`,
    );
    expect(send).toMatchObject({ proto, nChannels, stepsPerOp, chunkSize });
  });

  test('one channel by default, whatever the size', async () => {
    const [send] = await partitionOf('--ranks 2 --channels 4 --ops send:1200000');
    expect(send).toMatchObject({ proto: 'SIMPLE', nChannels: 1 });
  });

  test('both ends choose the same channels', async () => {
    const [send, recv] = await partitionOf(
      '--ranks 8 --channels 4 --peer-channels 4 --ops group{send(+3)+recv(-3):1M}',
    );
    expect(send!.parts).toEqual(recv!.parts);
  });
});
