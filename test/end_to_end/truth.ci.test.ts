/** The trace shows what the loopback did: operations of all kinds, and interfaces that tell less. test/end_to_end/truth.test.ts has the usual ones. */

import { describe, expect, it } from 'vitest';
import {
  expectTraceIsTrue,
  isDone,
  ofRank,
  runAndMerge,
  stepsSeen,
  worksDone,
  worksSeen,
} from '../support/traces/trace_truth.js';
import { totalsOf } from '../support/jobs/truth.js';

function overAndIn(): string {
  const ops = 'group{allreduce@dp:64K+allreduce:128K+group{allreduce@tp:4K}+allgather@dp:32K}';
  return `--groups tp=2 --groups-strided dp=2 --ops ${ops}`;
}

describe('the trace matches the work of the loopback', () => {
  it('on 8 ranks with a world, consecutive and strided groups', async () => {
    const ops =
      'allreduce@tp:128K*2,allreduce@dp:64K,allreduce:512K,group{send+recv:64K},allgather:256K,reducescatter:256K';
    const args = `--channels 2 --iterations 2 --groups tp=4 --groups-strided dp=2 --ops ${ops}`;
    expectTraceIsTrue(await runAndMerge(8, args));
  });

  it.each([
    ['trees beside rings', 5, '--ops allreduce:900K/tree,allreduce:300K,allreduce:20K/tree/ll'],
    ['AlltoAll, with what stays on the rank', 4, '--ops alltoall:400K,group{send(0)+recv(0):4K}'],
    ['a broadcast nobody tells of, and a reduction', 3, '--ops broadcast:200K,reduce(2):200K,allreduce:100K'],
    ['a group over communicators, and groups in groups', 4, overAndIn()],
    ['a graph and its replays', 4, '--ops graph{allreduce:200K+group{send+recv:40K}}*3,allreduce:100K'],
    ['a graph of trees and AlltoAll', 4, '--ops graph{allreduce:100K/tree+alltoall:100K}*2'],
    ['split plans', 3, '--plan-tasks 2 --ops group{allreduce:100K*5+alltoall:90K+allgather:30K}'],
    [
      'non-blocking communicators',
      3,
      '--non-blocking --ops allreduce:100K*2,group{allreduce:40K+send+recv:9K}',
    ],
    [
      'ranks in another order',
      4,
      '--groups tp=4:reversed --ops allreduce@tp:100K,group{send@tp+recv@tp:40K}',
    ],
    [
      'children that outlive their parent',
      4,
      '--groups 2 --exit parent-first --ops allreduce:40K,allreduce@tp:90K',
    ],
    ['finalize with work under way', 2, '--exit hasty --slow host:1:50ms --ops allreduce:900K'],
  ])('%s', async (_, ranks, args) => {
    expectTraceIsTrue(await runAndMerge(ranks, `--channels 2 --iterations 2 ${args}`));
  });

  it('ncclCommAbort: pending work ends with the communicator, and is called aborted', async () => {
    const args = '--fault skip:2@1 --hang-seconds 0.3 --hang-signal ABORT --ops allreduce:100K';
    const { view, truths } = await runAndMerge(3, `--channels 2 --iterations 2 ${args}`);
    truths.forEach((truth, rank) => {
      expect(worksSeen(view, rank)).toEqual(worksDone(truth));
      expect(stepsSeen(view, rank).size).toBe(4);
      const aborted = ofRank(view, rank).filter((slice) => slice.name === 'AllReduce' && !isDone(slice));
      expect(aborted).toHaveLength(rank === 2 ? 0 : 1);
    });
  });

  it('a broadcast with NCCL_ALLGATHERV_ENABLE=0', async () => {
    const args = '--channels 2 --iterations 2 --ops broadcast(1):200K,broadcast:2M';
    expectTraceIsTrue(await runAndMerge(3, args, { NCCL_ALLGATHERV_ENABLE: '0' }));
  });

  it.each([
    [4, 6],
    [5, 6],
    [5, 7],
    [6, 7],
  ])('through an interface v%d plugin in the NCCL that speaks v%d', async (plugin, nccl) => {
    const args = `--abi ${nccl} --plugin-abi ${plugin} --channels 2 --iterations 2 --ops allreduce:256K,group{send+recv:128K}`;
    expectTraceIsTrue(await runAndMerge(2, args));
  });

  it.each([1, 2, 3])('with less information: an interface v%d plugin in NCCL 2.30', async (plugin) => {
    const args = `--abi 6 --plugin-abi ${plugin} --channels 2 --iterations 2 --ops allreduce:256K`;
    const { view, truths } = await runAndMerge(2, args);
    truths.forEach((truth, rank) => {
      const slices = ofRank(view, rank);
      expect(slices.filter(({ name }) => name === 'step')).toHaveLength(
        totalsOf(truth).starts.ProxyStep ?? 0,
      );
      expect(slices.filter(({ name, dur }) => name === 'AllReduce' && dur >= 0n)).toHaveLength(2);
      expect(slices.some(({ track }) => track.path.join('/').includes('size not known'))).toBe(true);
    });
    expect(view.flows).toEqual([]);
  });

  it('8 ranks, 64 MiB, 8 channels, SIMPLE: 16 operations and 448 steps per rank', async () => {
    const seen = await runAndMerge(8, '--channels 8 --iterations 1 --proto simple --ops allreduce:64M');
    expectTraceIsTrue(seen);
    for (const truth of seen.truths)
      expect(totalsOf(truth).starts).toMatchObject({ ProxyOp: 16, ProxyStep: 448 });
  });
});
