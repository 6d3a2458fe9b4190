// The callbacks that a plugin gets, line by line, as the echo plugin logs them: in the order of NCCL 2.28 to 2.30
// (profiler.cc, net.cc, proxy.cc).

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Log, field, stateLine, states } from './log.js';
import { Run, type Callback } from './loopback.js';

/** Of an init. */
const hashOf = ({ fields }: Callback): bigint => BigInt(`0x${fields.comm}`);

describe('the API thread', () => {
  test('one AllReduce', async () => {
    const log = await Log.of('--ranks 2 --ops allreduce:1M');
    expect(log.shapes('api')).toEqual([
      'init',
      'start GroupApi < NULL',
      'state GroupApi 23 NULL',
      'start CollApi < GroupApi',
      'stop CollApi',
      'state GroupApi 24 NULL',
      'start KernelLaunch < GroupApi',
      'stop KernelLaunch',
      'start Group < NULL',
      'start Coll < CollApi',
      'stop Coll',
      'stop Group',
      'stop GroupApi',
      'finalize',
    ]);
    expect(log.ofType('GroupApi')[0]!.start.fields).toMatchObject({ depth: '1', captured: '0' });
    const [coll] = log.ofType('Coll');
    expect(coll!.start.fields).toMatchObject({ seq: '0', func: 'AllReduce', count: '262144', rank: '0' });
    expect(coll!.start.fields).toMatchObject({ datatype: 'ncclFloat32', algo: 'RING', proto: 'SIMPLE' });
    expect(field(coll!, 'group')).toBe(String(log.ofType('Group')[0]!.start.handle));
  });

  test('a send and a receive in one group', async () => {
    const log = await Log.of('--ranks 4 --ops group{recv+send:1M}');
    expect(log.shapes('api')).toEqual([
      'init',
      'start GroupApi < NULL',
      'state GroupApi 23 NULL',
      'start P2pApi < GroupApi',
      'stop P2pApi',
      'start P2pApi < GroupApi',
      'stop P2pApi',
      'state GroupApi 24 NULL',
      'start KernelLaunch < GroupApi',
      'stop KernelLaunch',
      'start Group < NULL',
      'start P2p < P2pApi',
      'start P2p < P2pApi',
      'stop P2p',
      'stop P2p',
      'stop Group',
      'stop GroupApi',
      'finalize',
    ]);
    expect(field(log.ofType('GroupApi')[0]!, 'depth')).toBe('2');
    // Called receive first; scheduled send first. Each keeps its own call as parent.
    expect(log.ofType('P2pApi').map((event) => field(event, 'func'))).toEqual(['Recv', 'Send']);
    const tasks = log.ofType('P2p');
    expect(tasks.map((event) => field(event, 'func'))).toEqual(['Send', 'Recv']);
    expect(tasks.map((event) => field(event, 'peer'))).toEqual(['1', '3']);
    for (const task of tasks) {
      const call = log.events.get(Number(field(task, 'parent')))!;
      expect(field(call, 'func')).toBe(field(task, 'func'));
    }
  });

  test('a group of three collectives: one launch, one Group, three Coll, the largest first', async () => {
    const log = await Log.of('--ranks 2 --ops group{allgather:1M+allreduce:4M+allreduce:4K}');
    const shapes = log.shapes('api');
    const count = (shape: string) => shapes.filter((other) => other === shape).length;
    expect(count('start GroupApi < NULL')).toBe(1);
    expect(count('state GroupApi 23 NULL')).toBe(1);
    expect(count('state GroupApi 24 NULL')).toBe(1);
    expect(count('start KernelLaunch < GroupApi')).toBe(1);
    expect(count('start Group < NULL')).toBe(1);
    const colls = log.ofType('Coll').map(({ start }) => start.fields);
    expect(colls.map(({ func, seq }) => `${func} ${seq}`)).toEqual([
      'AllReduce 0',
      'AllGather 0',
      'AllReduce 1',
    ]);
    // 512 KiB per rank: the caller's count is in elements, the task's in bytes.
    expect(colls[1]).toMatchObject({ count: '524288', datatype: 'ncclInt8' });
    expect(log.ofType('CollApi')[0]!.start.fields).toMatchObject({
      count: '131072',
      datatype: 'ncclFloat32',
    });
  });

  test('a group over two communicators: a launch and a Group for each, in the order of their hashes; the first one opens the group', async () => {
    const log = await Log.of('--ranks 4 --groups 2 --ops group{allreduce@tp:1M+allreduce:1M}');
    const inits = log.lines.filter(({ call }) => call === 'init');
    const byHash = inits.sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)).map(({ handle }) => String(handle));
    expect(log.ofType('GroupApi').map((event) => field(event, 'context'))).toEqual(['2']);
    expect(byHash).toHaveLength(2);
    expect(log.ofType('KernelLaunch').map((event) => field(event, 'context'))).toEqual(byHash);
    expect(log.ofType('Group').map((event) => field(event, 'context'))).toEqual(byHash);
  });

  test('sequence numbers count by communicator and function', async () => {
    const log = await Log.of(
      '--ranks 4 --groups 2 --ops allreduce:4K*2,allreduce@tp:4K,allgather:4K --iterations 2',
    );
    const seen = log
      .ofType('Coll')
      .map(({ start: { fields } }) => `${fields.context} ${fields.func} ${fields.seq}`);
    expect(seen).toEqual([
      ...['1 AllReduce 0', '1 AllReduce 1', '2 AllReduce 0', '1 AllGather 0'],
      ...['1 AllReduce 2', '1 AllReduce 3', '2 AllReduce 1', '1 AllGather 1'],
    ]);
  });

  test('communicators: their identity in init; the owner of the proxy is finalized last', async () => {
    const log = await Log.of('--ranks 4 --groups 2 --groups-strided 2 --ops allreduce:4K', { rank: 3 });
    const inits = log.lines.filter(({ call }) => call === 'init').map(({ fields }) => fields);
    expect(inits.map(({ name, nRanks, rank, nNodes }) => `${name} ${rank}/${nRanks} ${nNodes}`)).toEqual([
      'world 3/4 4',
      'tp 1/2 2',
      'dp 1/2 2',
    ]);
    expect(log.lines.filter(({ call }) => call === 'finalize').map(({ handle }) => handle)).toEqual([
      3, 2, 1,
    ]);
    expect(log.lines.at(-1)).toMatchObject({ call: 'finalize', handle: 1 });
  });

  test('no names with --no-comm-names, and no finalize if a process exits without it', async () => {
    const log = await Log.of('--ranks 2 --no-comm-names --exit leave --ops allreduce:4K');
    expect(log.lines[0]!.fields.name).toBe('NULL');
    expect(log.lines.filter(({ call }) => call === 'finalize')).toEqual([]);
  });

  test('as NCCL 2.28: the table of v5', async () => {
    const log = await Log.of('--ranks 2 --abi 5 --ops allreduce:4K');
    expect(log.run.summary).toMatchObject({ plugin: 'echo', pluginVersion: 5 });
    expect(log.shapes('api')).toContain('state GroupApi 23 NULL');
  });
});

describe('the progress thread, AllReduce of 8 MiB on 2 channels of 2 ranks', () => {
  let log: Log;
  beforeAll(async () => {
    log = await Log.of('--ranks 2 --ops allreduce:8M', { rank: 1 });
  });

  test('one receive and one send operation per channel, in this order, children of Coll', () => {
    const [coll] = log.ofType('Coll');
    const ops = log.ofType('ProxyOp');
    expect(ops.map(({ start: { fields } }) => `${fields.channel} ${fields.isSend}`)).toEqual([
      '0 0',
      '0 1',
      '1 0',
      '1 1',
    ]);
    for (const op of ops) {
      expect(field(op, 'parent')).toBe(String(coll!.start.handle));
      expect(op.start.fields).toMatchObject({ peer: '0', rank: '1', nSteps: '4', chunkSize: '4194304' });
      expect(field(op, 'pid')).toBe(String(log.run.summary.perRank[1]!.pid));
      expect(states(op)).toEqual([19]);
      expect(op.stops).toBe(1);
    }
  });

  test('steps: each state once, but state 20 as often as it was tried', () => {
    for (const op of log.ofType('ProxyOp')) {
      const steps = log.childrenOf(op, 'ProxyStep');
      expect(steps.map((step) => field(step, 'step'))).toEqual(['0', '1', '2', '3']);
      const isSend = field(op, 'isSend') === '1';
      for (const step of steps) {
        if (isSend) expect(states(step).join(' ')).toMatch(/^8( 20)+ 9$/);
        else expect(states(step)).toEqual([10, 11, 12]);
        expect(stateLine(step, isSend ? 9 : 11).fields.transSize).toBe(String(2 ** 20));
        expect(step.stops).toBe(1);
        expect(step.startAt).toBeGreaterThan(op.startAt);
        expect(step.stopAt).toBeLessThan(op.stopAt);
      }
    }
  });

  test('one KernelCh per channel, child of Coll, in the time of the GPU', () => {
    const [coll] = log.ofType('Coll');
    const kernels = log.childrenOf(coll!, 'KernelCh');
    expect(kernels.map((kernel) => field(kernel, 'channel'))).toEqual(['0', '1']);
    for (const kernel of kernels) {
      const begin = BigInt(field(kernel, 'pTimer')!);
      const end = BigInt(stateLine(kernel, 22).fields.pTimer!);
      expect(states(kernel)).toEqual([22]);
      expect(kernel.stops).toBe(1);
      expect(end).toBeGreaterThan(begin);
      expect([begin % 32n, end % 32n]).toEqual([0n, 0n]);
      expect(Math.abs(Number(begin / 1_000_000n) - Date.now())).toBeLessThan(600_000);
    }
  });

  test('ProxyCtrl: edges without length, sleep and append with their ends', () => {
    const kinds = log.ofType('ProxyCtrl').map((ctrl) => {
      expect(field(ctrl, 'parent')).toBe('0');
      expect(ctrl.stops).toBe(1);
      return states(ctrl).join(' ');
    });
    expect(new Set(kinds)).toEqual(new Set(['13', '14', '15 16', '17 18']));
    // 4 operations of the network, 2 that watch the kernel.
    const appends = log.ofType('ProxyCtrl').filter((ctrl) => states(ctrl)[0] === 17);
    expect(appends.reduce((sum, ctrl) => sum + Number(stateLine(ctrl, 18).fields.appended), 0)).toBe(6);
  });
});

test('at most 4 steps of a SIMPLE collective are in flight, 8 of others; they end in order', async () => {
  for (const [proto, most] of [['simple', 4] as const, ['ll', 8] as const]) {
    const log = await Log.of(`--ranks 4 --channels 1 --ops allreduce:4M/${proto}`);
    for (const op of log.ofType('ProxyOp')) {
      const steps = log.childrenOf(op, 'ProxyStep');
      const ends = steps.map(({ stopAt }) => stopAt);
      expect(ends).toEqual([...ends].sort((a, b) => a - b));
      const inFlight = steps.map(
        ({ startAt }) => steps.filter((s) => s.startAt <= startAt && s.stopAt > startAt).length,
      );
      expect(Math.max(...inFlight)).toBe(most);
    }
  }
});

describe('the progress thread, a send and a receive of 1 MiB on 2 channels', () => {
  let log: Log;
  beforeAll(async () => {
    log = await Log.of('--ranks 4 --peer-channels 2 --ops group{send+recv:1M}');
  });

  test('per channel the receive, then the send; 4 steps each', () => {
    const ops = log.ofType('ProxyOp');
    expect(ops.map(({ start: { fields } }) => `${fields.channel} ${fields.isSend} ${fields.nSteps}`)).toEqual(
      ['1 0 4', '1 1 4', '0 0 4', '0 1 4'],
    );
    for (const op of ops) {
      const task = log.events.get(Number(field(op, 'parent')))!;
      expect(field(task, 'func')).toBe(field(op, 'isSend') === '1' ? 'Send' : 'Recv');
      expect(field(task, 'peer')).toBe(field(op, 'peer'));
      expect(field(op, 'chunkSize')).toBe(String(128 * 1024));
    }
  });

  test('operations of one direction stop together, after the last step of both', () => {
    for (const isSend of ['0', '1']) {
      const ops = log.ofType('ProxyOp').filter((op) => field(op, 'isSend') === isSend);
      const stopAts = ops.map(({ stopAt }) => stopAt);
      const between = log.lines.slice(Math.min(...stopAts), Math.max(...stopAts) + 1);
      expect(between.filter(({ thread }) => thread === 'progress')).toHaveLength(2);
      const steps = ops.flatMap((op) => log.childrenOf(op, 'ProxyStep'));
      expect(Math.max(...steps.map(({ stopAt }) => stopAt))).toBeLessThan(Math.min(...stopAts));
    }
  });

  test('both have a KernelCh on each channel, with the same times', () => {
    const kernels = log.ofType('KernelCh');
    expect(kernels).toHaveLength(4);
    for (const channel of ['0', '1']) {
      const pair = kernels.filter((kernel) => field(kernel, 'channel') === channel);
      expect(new Set(pair.map((kernel) => field(kernel, 'parent'))).size).toBe(2);
      expect(new Set(pair.map((kernel) => field(kernel, 'pTimer'))).size).toBe(1);
      expect(new Set(pair.map((kernel) => stateLine(kernel, 22).fields.pTimer)).size).toBe(1);
    }
  });
});

describe('which mask makes which events', () => {
  const tasks = ['GroupApi', 'CollApi', 'P2pApi', 'Group', 'Coll', 'P2p'];
  test.each([
    [0x0, []],
    [0x1, ['GroupApi', 'Group']],
    [0x2, ['GroupApi', 'CollApi', 'Group', 'Coll']],
    [0x4, ['GroupApi', 'P2pApi', 'Group', 'P2p']],
    [0x8, [...tasks, 'ProxyOp']],
    [0x10, [...tasks, 'ProxyOp', 'ProxyStep']],
    [0x20, ['ProxyCtrl']],
    [0x40, [...tasks, 'KernelCh']],
    [0x80, [...tasks, 'ProxyOp', 'ProxyStep']],
    [0x100, ['GroupApi']],
    [0x200, ['GroupApi', 'CollApi']],
    [0x400, ['GroupApi', 'P2pApi']],
    [0x800, ['GroupApi', 'KernelLaunch']],
    [0x1000, ['GroupApi', 'CollApi']],
  ])('0x%s', async (mask, types) => {
    const log = await Log.of('--ranks 2 --ops allreduce:4K,group{send+recv:4K}', {
      echo: { ECHO_MASK: String(mask) },
    });
    const seen = new Set([...log.events.values()].map(({ start }) => start.type));
    expect([...seen].sort()).toEqual([...types].sort());
  });
});

test('steps of an operation without handle have no parent and no states', async () => {
  const log = await Log.of('--ranks 2 --ops allreduce:1M', { echo: { ECHO_NULL: '0x8' } });
  const steps = log.ofType('ProxyStep');
  expect(steps).toHaveLength(16);
  for (const step of steps) {
    expect(field(step, 'parent')).toBe('0');
    expect(states(step)).toEqual([]);
    expect(step.stops).toBe(1);
  }
});

test('a network that refuses receives: their steps start again, under new handles', async () => {
  const log = await Log.of('--ranks 2 --channels 1 --ops allreduce:1M --irecv-busy 2');
  const [recv] = log.ofType('ProxyOp').filter((op) => field(op, 'isSend') === '0');
  const steps = log.childrenOf(recv!, 'ProxyStep');
  expect(steps.map((step) => field(step, 'step'))).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3].map(String));
  expect(steps.map((step) => step.stops)).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
});

describe('the truth', () => {
  let run: Run;
  beforeAll(async () => {
    run = await Run.of('--ranks 8 --channels 8 --ops allreduce:64M --iterations 1', { echo: {} });
  });
  afterAll(() => {
    run.remove();
  });

  test('has every callback that the plugin has seen', () => {
    for (let rank = 0; rank < 8; rank++) {
      const lines = run.callbacks(rank);
      const totals = run.totals(rank);
      const starts: Record<string, number> = {};
      const states: Record<string, number> = {};
      for (const { call, type, state } of lines) {
        if (call === 'start') starts[type] = (starts[type] ?? 0) + 1;
        if (call === 'state') states[state] = (states[state] ?? 0) + 1;
      }
      expect(totals).toMatchObject({ final: true, inits: 1, finalizes: 1, starts, states });
      expect(totals.stops).toBe(lines.filter(({ call }) => call === 'stop').length);
    }
  });

  test('8 ranks, 64 MiB, 8 channels: 16 operations, 448 steps, 8 kernel channels', () => {
    for (let rank = 0; rank < 8; rank++) {
      const { starts, states } = run.totals(rank);
      expect(starts).toMatchObject({ GroupApi: 1, CollApi: 1, KernelLaunch: 1, Group: 1, Coll: 1 });
      expect(starts).toMatchObject({ ProxyOp: 16, ProxyStep: 448, KernelCh: 8 });
      expect(states).toMatchObject({
        8: 224,
        9: 224,
        10: 224,
        11: 224,
        12: 224,
        19: 16,
        22: 8,
        23: 1,
        24: 1,
      });
      expect(states['20']).toBeGreaterThanOrEqual(224);
      expect(run.proxyOps(rank).map(({ nSteps, stepsDone, bytes }) => [nSteps, stepsDone, bytes])).toEqual(
        Array(16).fill([28, 28, 14 * 2 ** 20]),
      );
    }
  });
});
