// How calls become kernels: groups in groups, over several communicators, cut into several plans, launched by another
// thread.

import { describe, expect, test } from 'vitest';
import { Log, field } from './log.js';
import { Run } from './loopback.js';

const launch = ['start KernelLaunch < GroupApi', 'stop KernelLaunch'];
const task = ['start Group < NULL', 'start Coll < CollApi', 'stop Coll', 'stop Group'];

describe('non-blocking communicators', () => {
  test('GroupApi stops first, then another thread launches and announces', async () => {
    const log = await Log.of('--ranks 2 --non-blocking --ops allreduce:1M,group{allreduce:4K}');
    const call = ['start CollApi < GroupApi', 'stop CollApi'];
    const group = ['start GroupApi < NULL', 'state GroupApi 23 NULL', ...call];
    const end = ['state GroupApi 24 NULL', 'stop GroupApi'];
    expect(log.shapes('api')).toEqual(['init', ...group, ...end, ...group, ...end, 'finalize']);
    expect(log.shapes('launch')).toEqual([...launch, ...task, ...launch, ...task]);
    log.ofType('GroupApi').forEach((groupApi, i) => {
      expect(groupApi.stopAt).toBeLessThan(log.ofType('KernelLaunch')[i]!.startAt);
    });
  });

  test('in old releases, too, which report only the tasks', async () => {
    const log = await Log.of('--ranks 2 --abi 3 --non-blocking --ops allreduce:1M*2');
    expect(log.shapes('api')).toEqual(['init', 'finalize']);
    const old = task.map((shape) => shape.replace('CollApi', 'Group'));
    expect(log.shapes('launch')).toEqual([...old, ...old]);
  });

  test('a group over three communicators: one GroupApi with the context of the first', async () => {
    const groups = '--groups 2 --groups-strided 2 --ops group{allreduce@dp:1M+allreduce:1M+allreduce@tp:4K}';
    const log = await Log.of(`--ranks 4 --non-blocking ${groups}`);
    expect(log.ofType('GroupApi').map((event) => field(event, 'context'))).toEqual(['3']);
    expect(log.ofType('CollApi').map((event) => field(event, 'context'))).toEqual(['3', '1', '2']);
    expect(log.shapes('launch')).toEqual([...launch, ...task, ...launch, ...task, ...launch, ...task]);
  });
});

describe('groups in groups', () => {
  test('an inner end after a call closes GroupApi early; the next call opens another', async () => {
    const log = await Log.of('--ranks 2 --ops group{allreduce:4K+group{allreduce:8K}+allreduce:16K}');
    const call = ['start CollApi < GroupApi', 'stop CollApi'];
    expect(log.shapes('api')).toEqual([
      'init',
      ...['start GroupApi < NULL', 'state GroupApi 23 NULL', ...call, ...call, 'stop GroupApi'],
      ...['start GroupApi < NULL', 'state GroupApi 23 NULL', ...call, 'state GroupApi 24 NULL'],
      ...launch,
      ...['start Group < NULL', 'start Coll < CollApi', 'start Coll < CollApi', 'start Coll < CollApi'],
      ...['stop Coll', 'stop Coll', 'stop Coll', 'stop Group', 'stop GroupApi', 'finalize'],
    ]);
    // One plan of three tasks, the largest first. The launch is a child of the second group, because the first is closed.
    expect(field(log.ofType('KernelLaunch')[0]!, 'parent')).toBe(
      String(log.ofType('GroupApi')[1]!.start.handle),
    );
    expect(log.ofType('GroupApi').map((event) => field(event, 'depth'))).toEqual(['2', '2']);
  });

  test('a call in the innermost group only: one GroupApi of that depth', async () => {
    const log = await Log.of('--ranks 2 --ops group{group{allreduce:4K}}');
    expect(log.ofType('GroupApi').map((event) => field(event, 'depth'))).toEqual(['3']);
    expect(log.ofType('GroupApi')[0]!.stops).toBe(1);
  });
});

describe('a group that takes several kernels', () => {
  test('a KernelLaunch and a Group for each, in one GroupApi', async () => {
    const ops = 'group{allreduce:1M+allgather:64K+allreduce:4K+send+recv:4K}';
    const log = await Log.of(`--ranks 2 --plan-tasks 2 --ops ${ops}`);
    expect(log.ofType('GroupApi')).toHaveLength(1);
    expect(log.ofType('KernelLaunch')).toHaveLength(3);
    const groups = log.ofType('Group').map(({ start }) => String(start.handle));
    expect(log.ofType('Coll').map((coll) => groups.indexOf(field(coll, 'group')!))).toEqual([0, 0, 1]);
    expect(log.ofType('P2p').map((p2p) => groups.indexOf(field(p2p, 'group')!))).toEqual([2, 2]);
  });

  test('the data is right', async () => {
    const ops = 'group{allreduce:1M*5+alltoall:300K+send+recv:2M}*2';
    const run = await Run.of(`--ranks 3 --plan-tasks 2 --iterations 2 --ops ${ops}`);
    expect(run.exit).toMatchObject({ code: 0, stderr: '' });
    run.remove();
  });
});
