// All operations that callbacks.test.ts leaves out (no ring collectives, no plain transfers): what NCCL reports, and that
// their data is right.

import { describe, expect, test } from 'vitest';
import { Log, field, states } from './log.js';
import type { LoggedEvent } from './loopback.js';
import { Run } from './loopback.js';

const fields = (log: Log, type: string) => log.ofType(type).map(({ start }) => start.fields);
const typesIn = (log: Log) => [...new Set([...log.events.values()].map(({ start }) => start.type))].sort();
const taskOf = (log: Log, event: LoggedEvent) => log.events.get(Number(field(event, 'parent')))!;

describe('data is right after', () => {
  const protos = ['simple', 'll', 'll128'];
  const every = (ops: string[], sizes: string[]) =>
    ops.flatMap((op) => sizes.flatMap((size) => protos.map((proto) => `${op}:${size}/${proto}`))).join(',');

  test.each([
    ['broadcasts and reductions', 5, every(['broadcast(3)', 'reduce(4)', 'reduce'], ['4', '1300004'])],
    ['tree AllReduces', 6, every(['allreduce'], ['4', '3000004'])],
    ['exchanges of all with all', 5, every(['alltoall'], ['100', '3000000'])],
    [
      'transfers to oneself',
      3,
      'group{send(0)+recv(0)+send+recv+alltoall+broadcast:300K},group{send(3)+recv(0):4}',
    ],
    [
      'everything on one rank',
      1,
      'broadcast:4K,reduce:4K,alltoall:4K,group{send(0)+recv(0):4K},allreduce:4K/tree',
    ],
  ])('%s', async (_, ranks, ops) => {
    const run = await Run.of(`--ranks ${ranks} --channels 3 --algo tree --iterations 1 --ops ${ops}`);
    run.remove();
    expect(run.exit).toMatchObject({ code: 0, stderr: '' });
    const { verified, collectives, p2ps } = run.summary.counts;
    expect(verified).toBe(collectives + p2ps);
    expect(verified).toBeGreaterThan(0);
  });
});

describe('AlltoAll of 4 ranks', () => {
  test('one group of its own, a P2pApi Send and Recv for each rank, no CollApi', async () => {
    const log = await Log.of('--ranks 4 --ops alltoall:1M', { rank: 1 });
    expect(fields(log, 'GroupApi')).toMatchObject([{ depth: '1' }]);
    expect(log.ofType('CollApi')).toEqual([]);
    expect(log.ofType('Coll')).toEqual([]);
    const calls = fields(log, 'P2pApi').map(({ func, count }) => `${func} ${count}`);
    expect(calls).toEqual(Array(4).fill(['Send 65536', 'Recv 65536']).flat());
    const tasks = log.ofType('P2p');
    expect(tasks).toHaveLength(8);
    for (const task of tasks) expect(field(taskOf(log, task), 'func')).toBe(field(task, 'func'));
    // In the order of NCCL's schedule: distances 0, 1, 3, 2; the send first.
    expect(tasks.map((task) => `${field(task, 'func')} ${field(task, 'peer')}`)).toEqual([
      'Send 1',
      'Recv 1',
      'Send 2',
      'Recv 0',
      'Send 0',
      'Recv 2',
      'Send 3',
      'Recv 3',
    ]);
    expect(log.ofType('KernelLaunch')).toHaveLength(1);
  });

  test('no operation and no kernel channel for data that stays on the rank', async () => {
    const log = await Log.of('--ranks 4 --ops alltoall:1M', { rank: 1 });
    const peers = (type: string) => log.ofType(type).map((event) => field(taskOf(log, event), 'peer'));
    expect(new Set(peers('ProxyOp'))).toEqual(new Set(['0', '2', '3']));
    expect(new Set(peers('KernelCh'))).toEqual(new Set(['0', '2', '3']));
    for (const op of log.ofType('ProxyOp')) expect(field(op, 'peer')).toBe(field(taskOf(log, op), 'peer'));
  });

  test('in old releases: a group of Sends and Recvs like any other', async () => {
    const log = await Log.of('--ranks 4 --abi 2 --ops alltoall:64K');
    expect(log.ofType('P2p')).toHaveLength(8);
    expect(log.shapes('api').slice(0, 3)).toEqual(['init', 'start Group < NULL', 'start P2p < Group']);
  });
});

test('a send to oneself: the call and the task, no operation, no step, no kernel', async () => {
  const log = await Log.of('--ranks 2 --ops group{send(0)+recv(0):64K}');
  expect(typesIn(log)).toEqual(['Group', 'GroupApi', 'KernelLaunch', 'P2p', 'P2pApi', 'ProxyCtrl']);
  expect(fields(log, 'P2p')).toMatchObject([
    { func: 'Send', peer: '0' },
    { func: 'Recv', peer: '0' },
  ]);
});

describe('no event at all', () => {
  test.each([
    ['of collectives of one rank', '--ranks 1 --ops allreduce:4K,broadcast:4K,reduce:4K,alltoall:4K'],
    ['of collectives of nothing', '--ranks 2 --ops allreduce:0,allgather:0,broadcast:0,alltoall:0'],
  ])('%s', async (_, args) => {
    const log = await Log.of(args);
    expect(log.shapes('api')).toEqual(['init', 'finalize']);
  });
});

describe('Broadcast', () => {
  const broadcast = (abi: number, env: Record<string, string> = {}) =>
    Log.of(`--ranks 3 --abi ${abi} --ops broadcast(1):1M/simple`, { rank: 2, echo: env });

  test.each([6, 7])('v%i: the call only', async (abi) => {
    const log = await broadcast(abi);
    expect(log.shapes('api')).toEqual([
      'init',
      'start GroupApi < NULL',
      'state GroupApi 23 NULL',
      'start CollApi < GroupApi',
      'stop CollApi',
      'state GroupApi 24 NULL',
      'stop GroupApi',
      'finalize',
    ]);
    expect(typesIn(log)).toEqual(['CollApi', 'GroupApi', 'ProxyCtrl']);
    expect(fields(log, 'CollApi')).toMatchObject([{ func: 'Broadcast', count: '262144', root: '1' }]);
  });

  test.each([
    [7, { NCCL_ALLGATHERV_ENABLE: '0' }],
    [6, { NCCL_ALLGATHERV_ENABLE: '0' }],
    [5, {}],
    [2, {}],
  ])('v%i %o: a collective in bytes', async (abi, env) => {
    const log = await broadcast(abi, env);
    expect(fields(log, 'Coll')).toMatchObject([
      { func: 'Broadcast', count: '1048576', datatype: 'ncclInt8', root: '1', algo: 'RING' },
    ]);
    // The ring is 1 > 2 > 0: this rank receives and passes on, one step for each 512 KiB.
    const ops = fields(log, 'ProxyOp').map(({ isSend, peer, nSteps }) => `${isSend} ${peer} ${nSteps}`);
    expect(ops).toEqual(['0 1 1', '1 0 1', '0 1 1', '1 0 1']);
  });

  test('v1: as a number', async () => {
    expect(fields(await broadcast(1), 'Coll')).toMatchObject([
      { func: '0', datatype: '0', count: '1048576' },
    ]);
  });

  test('work that NCCL does not report is in no count that the plugin could compare', async () => {
    const run = await Run.of('--ranks 3 --iterations 2 --ops broadcast:1M,allreduce:1M', { echo: {} });
    const [hidden, seen] = run.tasks(0);
    expect(hidden).toMatchObject({ func: 'Broadcast', unreported: true, seq: null, completed: true });
    expect(seen).toMatchObject({ func: 'AllReduce', unreported: false, seq: 0 });
    const sends = run.proxyOps(0).filter(({ isSend, channel }) => isSend && channel === 0);
    expect(sends.filter(({ task }) => task % 2 === 1).map(({ ordinal }) => ordinal)).toEqual([0, 1]);
    expect(run.totals(0).starts.ProxyOp).toBe(2 * 2 * 2);
    run.remove();
  });
});

test('Reduce: a chain that ends at the root, counted in elements', async () => {
  const run = await Run.of('--ranks 3 --channels 1 --iterations 1 --ops reduce(1):1M/simple', { echo: {} });
  const directions = [0, 1, 2].map((rank) =>
    run.proxyOps(rank).map(({ isSend, peer, nSteps }) => `${isSend ? 'to' : 'from'} ${peer} ${nSteps}`),
  );
  expect(directions).toEqual([['from 2 2', 'to 1 2'], ['from 0 2'], ['to 0 2']]);
  const coll = run.callbacks(1).find(({ type }) => type === 'Coll')!;
  expect(coll.fields).toMatchObject({ func: 'Reduce', count: '262144', datatype: 'ncclFloat32', root: '1' });
  run.remove();
});

describe('tree AllReduce', () => {
  test('per channel: receive from below, send up, send down, receive from above', async () => {
    const log = await Log.of('--ranks 4 --channels 2 --ops allreduce:2M/tree/simple', { rank: 2 });
    expect(fields(log, 'Coll')).toMatchObject([{ algo: 'TREE', proto: 'SIMPLE', nChannels: '2' }]);
    const ops = fields(log, 'ProxyOp');
    // First tree: 0 above 2 above 1 and 3. Second tree, the mirror image: 2 is a leaf below 1.
    expect(ops.map(({ channel, isSend, peer }) => `${channel} ${isSend} ${peer}`)).toEqual([
      ...['0 0 1', '0 0 3', '0 1 0', '0 1 1', '0 1 3', '0 0 0'],
      ...['1 1 1', '1 0 1'],
    ]);
    // 1 MiB per channel in chunks of 512 KiB, one slot each.
    for (const { nSteps, chunkSize } of ops) expect([nSteps, chunkSize]).toEqual(['2', String(512 * 1024)]);
    for (const op of log.ofType('ProxyOp')) {
      const steps = log.childrenOf(op, 'ProxyStep');
      expect(steps.map((step) => [field(step, 'step'), step.stops])).toEqual([
        ['0', 1],
        ['1', 1],
      ]);
      expect(states(op)).toEqual([19]);
    }
  });

  test('both ends of each connection have equal counts', async () => {
    const run = await Run.of(
      '--ranks 7 --channels 4 --iterations 2 --ops allreduce:900K/tree,allreduce:900K',
    );
    const ends = (sent: boolean) =>
      Array.from({ length: 7 }, (_, rank) =>
        run
          .proxyOps(rank)
          .filter(({ isSend }) => isSend === sent)
          .map(({ channel, peer, ordinal, bytes, nSteps }) => {
            const [from, to] = sent ? [rank, peer] : [peer, rank];
            return `${from}>${to} ch${channel} #${ordinal} ${nSteps} steps ${bytes} bytes`;
          }),
      )
        .flat()
        .sort();
    const sent = ends(true);
    expect(new Set(sent).size).toBe(sent.length);
    expect(sent).toEqual(ends(false));
    run.remove();
  });
});
