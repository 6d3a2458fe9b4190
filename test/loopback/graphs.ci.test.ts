// CUDA graphs: captured once, replayed from CUDA's thread for host functions, under the handles and the mask of the
// capture.

import { describe, expect, test } from 'vitest';
import { Log, field, stateLine } from './log.js';
import { Run } from './loopback.js';

const twoReplays = '--ranks 2 --channels 1 --ops graph{allreduce:1M}*2';
const calls = (log: Log, call: string) => log.lines.filter((line) => line.call === call);

describe('a captured AllReduce and two replays', () => {
  test('the calls and the launch once, the work in each replay, on the thread of host functions', async () => {
    const log = await Log.of(twoReplays);
    expect(log.shapes('api')).toEqual([
      'init',
      'start GroupApi < NULL',
      'state GroupApi 23 NULL',
      'start CollApi < GroupApi',
      'stop CollApi',
      'state GroupApi 24 NULL',
      'start KernelLaunch < GroupApi',
      'stop KernelLaunch',
      'stop GroupApi',
      'finalize',
    ]);
    const replay = ['start Group < NULL', 'start Coll < CollApi', 'stop Coll', 'stop Group'];
    expect(log.shapes('callback')).toEqual([...replay, ...replay]);
    expect(field(log.ofType('GroupApi')[0]!, 'captured')).toBe('1');
    expect(field(log.ofType('CollApi')[0]!, 'captured')).toBe('1');
  });

  test('each replay has operations, steps and kernels of its own', async () => {
    const log = await Log.of(twoReplays);
    const colls = log.ofType('Coll');
    expect(new Set(colls.map((coll) => field(coll, 'parent'))).size).toBe(1);
    for (const coll of colls) {
      const ops = log.childrenOf(coll, 'ProxyOp');
      expect(ops.map((op) => log.childrenOf(op, 'ProxyStep').length)).toEqual([4, 4]);
      const [kernel, ...others] = log.childrenOf(coll, 'KernelCh');
      expect(others).toEqual([]);
      expect(stateLine(kernel!, 22)).toBeDefined();
    }
  });

  test('work after a replay is announced after it', async () => {
    const log = await Log.of('--ranks 2 --ops graph{allreduce:2M}*3,allreduce:1M,group{send+recv:1M}');
    const tasks = [...log.ofType('Coll'), ...log.ofType('P2p')];
    expect(tasks.map(({ startAt }) => startAt)).toEqual(
      tasks.map(({ startAt }) => startAt).sort((a, b) => a - b),
    );
    expect(tasks).toHaveLength(6);
    expect(log.ofType('KernelLaunch')).toHaveLength(3);
  });
});

describe('seqNumber', () => {
  const numbers = async (mask: string) => {
    const ops = 'allreduce:4K,graph{allreduce:4K}*2,sync,allreduce:4K';
    const log = await Log.of(`--ranks 2 --ops ${ops}`, { echo: { ECHO_MASK: mask } });
    return log.ofType('Coll').map((coll) => field(coll, 'seq'));
  };

  test('counts replays if KernelCh is on', async () => {
    expect(await numbers('0xfff')).toEqual(['0', '1', '2', '3']);
  });

  test('does not count them if it is off', async () => {
    expect(await numbers('0xfbf')).toEqual(['0', '1', '1', '1']);
  });
});

test('replays follow the mask of their capture', async () => {
  // Off after GroupApi, CollApi and KernelLaunch: before the first replay.
  const log = await Log.of(twoReplays, { echo: { ECHO_OFF: '3', ECHO_MASK: '0xfdf' } });
  expect(log.ofType('Coll')).toHaveLength(2);
  expect(log.ofType('ProxyStep')).toHaveLength(2 * 2 * 4);
  expect(log.ofType('KernelCh')).toHaveLength(2);
});

test('a plan without operations of the proxy: announced when captured, and never again', async () => {
  const log = await Log.of('--ranks 2 --ops graph{group{send(0)+recv(0):4K}}*3');
  expect(log.shapes('callback')).toEqual([]);
  expect(log.shapes('api').slice(-8)).toEqual([
    ...['start Group < NULL', 'start P2p < P2pApi', 'start P2p < P2pApi', 'stop P2p', 'stop P2p'],
    ...['stop Group', 'stop GroupApi', 'finalize'],
  ]);
});

test('a start that sets no handle keeps that of the earlier replay, with its children and a second stop', async () => {
  const log = await Log.of(twoReplays, { echo: { ECHO_KEEP: '0x2' } });
  const stops = calls(log, 'stop').filter(({ thread }) => thread === 'callback');
  const [coll] = log.ofType('Coll');
  expect(stops.filter(({ handle }) => handle === coll!.start.handle)).toHaveLength(2);
  expect(log.childrenOf(coll!, 'ProxyOp')).toHaveLength(4);
});

test('a graph of groups, transfers and trees, in every iteration: captured once', async () => {
  const ops = 'graph{group{send+recv:40K}+alltoall:100K+allreduce:300K/tree+broadcast:50K}*2,allreduce:100K';
  const run = await Run.of(`--ranks 4 --iterations 2 --ops ${ops}`, { echo: {} });
  expect(run.summary.counts).toMatchObject({ wrong: 0, verified: (4 * 2 + 1) * 2 * 4 + 8 * 2 * 2 * 4 });
  const tasks = run.tasks(0);
  expect(tasks.filter(({ graph }) => graph === 'captured')).toHaveLength(12);
  expect(new Set(tasks.map(({ replay }) => replay))).toEqual(new Set([undefined, 0, 1, 2, 3]));
  expect(tasks.filter(({ graph }) => graph === 'replay').every(({ completed }) => completed)).toBe(true);
  run.remove();
});

test.each([1, 2, 3, 4])('v%i: the same, without the calls', async (abi) => {
  const log = await Log.of(`${twoReplays} --abi ${abi}`);
  expect(log.shapes('api')).toEqual(['init', 'finalize']);
  const replay = ['start Group < NULL', 'start Coll < Group', 'stop Coll', 'stop Group'];
  expect(log.shapes('callback')).toEqual([...replay, ...replay]);
});

test('CUDA_LAUNCH_BLOCKING: all tasks are announced by the thread of host functions', async () => {
  const log = await Log.of('--ranks 2 --ops allreduce:4K', { echo: { CUDA_LAUNCH_BLOCKING: '1' } });
  expect(log.shapes('api').at(-2)).toBe('stop GroupApi');
  expect(log.shapes('callback')).toEqual([
    ...['start Group < NULL', 'start Coll < CollApi', 'stop Coll', 'stop Group'],
  ]);
});
