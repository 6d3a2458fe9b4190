// Real runs: the data arrives, and the proxies do what was planned.

import { afterEach, describe, expect, test } from 'vitest';
import { Run } from './loopback.js';

const runs: Run[] = [];
afterEach(() => {
  runs.splice(0).forEach((run) => {
    run.remove();
  });
});

async function run(args: string): Promise<Run> {
  const result = await Run.of(args);
  runs.push(result);
  return result;
}

function expectFinished({ exit, summary }: Run) {
  expect(exit.stderr).toBe('');
  expect(exit.code).toBe(0);
  expect(summary.ending).toBe('finished');
  expect(summary.counts.verified).toBe(summary.counts.collectives + summary.counts.p2ps);
}

describe('data is right after', () => {
  test.each([
    ['the default workload of 2 ranks', '--ranks 2'],
    ['the default workload of 8 ranks, with sub-groups', '--ranks 8'],
    ['every function in every protocol', '--ranks 3 --ops ' + everyFunctionAndProtocol()],
    [
      'sizes that divide by nothing',
      '--ranks 5 --channels 3 --ops allreduce:4,allreduce:1000004,allgather:33333',
    ],
    [
      'groups of collectives and transfers',
      '--ranks 4 --ops group{allreduce:4M+allgather:1M+allreduce:4K+send+recv:300K},group{send(+2)+recv(-2):0}',
    ],
    ['several transfers with one peer', '--ranks 4 --ops group{send+send+recv+recv+send(-1)+recv(+1):200K}'],
    ['sockets without credits', '--ranks 4 --net socket'],
    ['a network that refuses receives', '--ranks 4 --irecv-busy 2'],
    [
      'broadcasts and reductions',
      '--ranks 5 --channels 3 --ops broadcast(3):1300004,reduce(4):1300004,reduce:4',
    ],
    ['tree AllReduces', '--ranks 6 --channels 3 --algo tree --ops allreduce:4,allreduce:3000004/ll'],
    ['exchanges of all with all', '--ranks 5 --ops alltoall:100,alltoall:3000000'],
    ['transfers to oneself', '--ranks 3 --ops group{send(0)+recv(0)+send+recv+alltoall+broadcast:300K}'],
    [
      'groups of several kernels',
      '--ranks 3 --plan-tasks 2 --ops group{allreduce:1M*5+alltoall:300K+send+recv:2M}*2',
    ],
    [
      'graphs and their replays',
      '--ranks 3 --ops graph{allgather:300K+alltoall:300K}*3,alltoall:90K --irecv-busy 2',
    ],
    [
      'registered buffers',
      '--registered --ranks 4 --channels 3 --ops allgather:1M*3,allreduce:1M,group{send+recv:1M}',
    ],
    [
      'helper threads of sockets',
      '--ranks 4 --groups 2 --net-events sockets --ops allreduce@tp:256K,allgather:128K',
    ],
    ['sends that another process executes', '--ranks 4 --pxn 0:2 --ops group{send+recv:64K},allreduce:256K'],
    [
      'copy engines and symmetric memory',
      '--ranks 6 --groups tp=2 --abi 7 --ce --symmetric --ops allgather:100K,allreduce@tp:77K,reducescatter:9K',
    ],
    ['launches by another thread', '--ranks 3 --non-blocking --ops group{allreduce:1M+allgather:64K}'],
    ['communicators that overlap', '--ranks 6 --groups a=4 --groups-strided b=3 --ops ' + overlapping()],
  ])('%s', async (_, args) => {
    expectFinished(await run(args));
  });

  test('a communicator of one rank, where nothing moves', async () => {
    const result = await run('--ranks 1 --ops allreduce:1M --iterations 1');
    expectFinished(result);
    expect(result.proxyOps(0)).toEqual([]);
  });
});

function everyFunctionAndProtocol(): string {
  const ops = ['allreduce', 'allgather', 'reducescatter'].flatMap((name) =>
    ['simple', 'll', 'll128'].map((proto) => `${name}:700000/${proto}`),
  );
  return [...ops, 'group{send+recv:700000}', 'group{send+recv:7000}'].join(',');
}

function overlapping(): string {
  return 'group{allreduce@a:1M+allreduce@b:1M+allreduce:1M},reducescatter@b:256K,allreduce@a:64K';
}

test('LL carries a flag with each word: twice the payload on the wire', async () => {
  const result = await run('--ranks 2 --channels 1 --ops allreduce:64K/ll --iterations 1');
  expect(result.proxyOps(0).map((op) => op.bytes)).toEqual([128 * 1024, 128 * 1024]);
});

test('both ends of each connection count alike', async () => {
  const result = await run(
    '--ranks 4 --channels 2 --peer-channels 2 --ops allreduce:1M,group{send+recv:512K}*2',
  );
  const key = (
    from: number,
    to: number,
    op: { channel: number; ordinal: number; bytes: number; nSteps: number },
  ) => `${from}>${to} ch${op.channel} #${op.ordinal} ${op.nSteps} steps ${op.bytes} bytes`;
  const sent: string[] = [];
  const received: string[] = [];
  for (let rank = 0; rank < 4; rank++) {
    for (const op of result.proxyOps(rank)) {
      if (op.isSend) sent.push(key(rank, op.peer, op));
      else received.push(key(op.peer, rank, op));
    }
  }
  expect(sent.length).toBe(3 * (4 * 2 + 2 * 4 * 2));
  expect(new Set(sent).size).toBe(sent.length);
  expect(sent.sort()).toEqual(received.sort());
});

test('wrong data is found: exit code 3 and a line that says where', async () => {
  const { exit, summary } = await run('--ranks 4 --ops allreduce:1M --fault corrupt:2@1');
  expect(exit.code).toBe(3);
  expect(summary).toMatchObject({ ending: 'wrong data', exitCode: 3, counts: { wrong: 4, verified: 8 } });
  expect(exit.stderr).toMatch(/rank 0: AllReduce on 'world' in iteration 1: element 0 is \d+, expected \d+/);
});

test('the same seed gives the same communicators, another one others', async () => {
  const ids = async (seed: number) => {
    const result = await run(`--ranks 4 --seed ${seed} --ops allreduce:4K --groups 2 --iterations 1`);
    return [0, 1, 2, 3].map((rank) => result.truth(rank).filter(({ kind }) => kind === 'comm'));
  };
  const first = await ids(7);
  expect(await ids(7)).toEqual(first);
  expect(await ids(8)).not.toEqual(first);
  expect(first[0]!.map(({ comm }) => comm)).toEqual(first[1]!.map(({ comm }) => comm));
  expect(first[0]![0]!.comm).toBe(first[2]![0]!.comm);
  expect(first[0]![1]!.comm).not.toBe(first[2]![1]!.comm);
});
