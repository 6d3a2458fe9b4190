// Each version of the interface as its release of NCCL speaks it, and old tables through the adapters of new releases.
// Two ranks, one channel: an AllReduce of 1 MiB (4 transfers of 2 slots), a Send and a Recv of 64 KiB (2 transfers).

import { describe, expect, test } from 'vitest';
import { Log, field, stateLine, states } from './log.js';
import type { LoggedEvent } from './loopback.js';

const run = (args: string, echo: Record<string, string> = {}) =>
  Log.of(`--ranks 2 --channels 1 --seed 5 ${args}`, { echo });
const allReduce = (args: string, echo?: Record<string, string>) => run(`${args} --ops allreduce:1M`, echo);
const exchange = (args: string, echo?: Record<string, string>) =>
  run(`${args} --ops group{send+recv:64K}`, echo);

const fields = (log: Log, type: string) => log.ofType(type).map(({ start }) => start.fields);
const isSend = (op: LoggedEvent) => field(op, 'isSend') === '1';
const opsOf = (log: Log) => {
  const ops = log.ofType('ProxyOp');
  return { send: ops.find(isSend)!, recv: ops.find((op) => !isSend(op))! };
};

const comm = { name: 'world', commHash: expect.stringMatching(/^[1-9a-f][0-9a-f]{15}$/) as string };
const unreported = { name: 'NULL', commHash: '0000000000000000' };
const group = (...tasks: string[]) => ['start Group < NULL', ...tasks, 'stop Group'];
const groupApi = (calls: string[], tasks: string[]) => [
  'start GroupApi < NULL',
  'state GroupApi 23 NULL',
  ...calls,
  'state GroupApi 24 NULL',
  'start KernelLaunch < GroupApi',
  'stop KernelLaunch',
  ...group(...tasks),
  'stop GroupApi',
];

describe.each([1, 2, 3, 4])('v%i: the API thread', (abi) => {
  test('one AllReduce', async () => {
    const log = await allReduce(`--abi ${abi}`);
    expect(log.run.summary).toMatchObject({ plugin: 'echo', pluginVersion: abi });
    expect(log.shapes('api')).toEqual(['init', ...group('start Coll < Group', 'stop Coll'), 'finalize']);
  });

  test('a Send and a Recv', async () => {
    const log = await exchange(`--abi ${abi}`);
    const starts = ['start P2p < Group', 'start P2p < Group'];
    expect(log.shapes('api')).toEqual(['init', ...group(...starts, 'stop P2p', 'stop P2p'), 'finalize']);
  });
});

describe.each([5, 6, 7])('v%i: the API thread', (abi) => {
  test('one AllReduce', async () => {
    const log = await allReduce(`--abi ${abi}`);
    expect(log.run.summary).toMatchObject({ plugin: 'echo', pluginVersion: abi });
    const call = ['start CollApi < GroupApi', 'stop CollApi'];
    const task = ['start Coll < CollApi', 'stop Coll'];
    expect(log.shapes('api')).toEqual(['init', ...groupApi(call, task), 'finalize']);
  });

  test('a Send and a Recv', async () => {
    const log = await exchange(`--abi ${abi}`);
    const call = ['start P2pApi < GroupApi', 'stop P2pApi'];
    const tasks = ['start P2p < P2pApi', 'start P2p < P2pApi', 'stop P2p', 'stop P2p'];
    expect(log.shapes('api')).toEqual(['init', ...groupApi([...call, ...call], tasks), 'finalize']);
  });
});

describe('the fields of init and tasks', () => {
  test('v1: numbers', async () => {
    const log = await allReduce('--abi 1');
    expect(log.lines[0]!.fields).toEqual({});
    expect(fields(log, 'Coll')).toMatchObject([
      { ...comm, rank: '0', func: '4', datatype: '7', algo: '1', proto: '2', count: '262144', op: '0' },
    ]);
    expect(fields(log, 'Coll')[0]).toMatchObject({ trafficBytes: String(2 ** 21), nMaxChannels: '1' });
    const p2ps = fields(await exchange('--abi 1'), 'P2p');
    expect(p2ps).toMatchObject([
      { ...comm, func: '6', peer: '1', datatype: '7' },
      { ...comm, func: '7', peer: '1' },
    ]);
  });

  test.each([2, 3])('v%i: names, and the communicator with every task', async (abi) => {
    const log = await allReduce(`--abi ${abi}`);
    expect(log.lines[0]!.fields).toEqual({});
    const [coll] = fields(log, 'Coll');
    expect(coll).toMatchObject({ ...comm, func: 'AllReduce', datatype: 'ncclFloat32', algo: 'RING' });
    expect(coll!.trafficBytes).toBe(abi === 2 ? String(2 ** 21) : undefined);
    expect(fields(await exchange(`--abi ${abi}`), 'P2p')).toMatchObject([
      { ...comm, func: 'Send' },
      { ...comm, func: 'Recv' },
    ]);
  });

  test('v4: the communicator in init', async () => {
    const log = await exchange('--abi 4');
    const { commHash } = comm;
    expect(log.lines[0]!.fields).toEqual({
      comm: commHash,
      name: 'world',
      nNodes: '2',
      nRanks: '2',
      rank: '0',
    });
    expect(fields(log, 'P2p').map(({ name, nChannels }) => [name, nChannels])).toEqual([
      [undefined, '1'],
      [undefined, '1'],
    ]);
  });

  test('v7: user tags', async () => {
    const colls = await allReduce('--abi 7 --user-tag 12345678901');
    const tag = { userTag: '12345678901' };
    expect(fields(colls, 'CollApi')).toMatchObject([tag]);
    expect(fields(colls, 'Coll')).toMatchObject([{ ...tag, kernelVariant: 'NULL', isSymColl: '0' }]);
    const p2ps = await exchange('--abi 7 --user-tag 12345678901');
    expect([...fields(p2ps, 'P2pApi'), ...fields(p2ps, 'P2p')]).toMatchObject([tag, tag, tag, tag]);
  });
});

describe('operations and steps', () => {
  test('v1: slot by slot', async () => {
    const log = await allReduce('--abi 1');
    for (const op of Object.values(opsOf(log))) {
      expect(op.start.fields).toMatchObject({ nSteps: '8', chunkSize: String(2 ** 21) });
      const steps = log.childrenOf(op, 'ProxyStep');
      expect(steps.map((step) => field(step, 'step'))).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(String));
      for (const step of steps) expect(step.stops).toBe(1);
    }
    expect(detailsOf(opsOf(log).recv, 7).map(({ steps }) => steps)).toEqual(['2', '4', '6', '8']);
  });

  test.each([2, 3])('v%i: transfer by transfer', async (abi) => {
    const log = await allReduce(`--abi ${abi}`);
    for (const op of Object.values(opsOf(log))) {
      expect(op.start.fields).toMatchObject({ nSteps: '4', chunkSize: String(2 ** 22) });
      expect(log.childrenOf(op, 'ProxyStep').map((step) => field(step, 'step'))).toEqual([
        '0',
        '1',
        '2',
        '3',
      ]);
    }
  });

  test.each([1, 2, 3])('v%i: the operation reports its progress, its steps do not', async (abi) => {
    for (const log of [await allReduce(`--abi ${abi}`), await exchange(`--abi ${abi}`)]) {
      const transfers = log.ofType('Coll').length > 0 ? 4 : 2;
      const unit = Number(field(opsOf(log).send, 'nSteps')) / transfers;
      const { send, recv } = opsOf(log);
      for (const [op, kinds] of [
        [send, [0, 2, 3]],
        [recv, [4, 5, 6, 7]],
      ] as const) {
        for (const kind of kinds) {
          const counts = detailsOf(op, kind).map(({ steps }) => Number(steps));
          expect(counts).toEqual(Array.from({ length: transfers }, (_, i) => (i + 1) * unit));
        }
        for (const step of log.childrenOf(op, 'ProxyStep')) {
          expect(states(step)).toEqual(isSend(op) ? [8, 9] : [10, 11, 12]);
          for (const line of step.states) expect(line.fields).toEqual({ args: 'NULL' });
        }
      }
      expect(detailsOf(send, 1).length).toBeGreaterThanOrEqual(transfers);
      expect(new Set([...states(send), ...states(recv)])).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
      const bytes = String(transfers === 4 ? 2 ** 20 : 2 ** 16);
      expect([detailsOf(send, 3).at(-1), detailsOf(recv, 7).at(-1)]).toMatchObject([
        { transSize: bytes },
        { transSize: bytes },
      ]);
    }
  });

  test('until v3 an operation starts when it first moves, from v4 on when it is queued', async () => {
    for (const [abi, inAppend] of [
      [1, false] as const,
      [3, false] as const,
      [4, true] as const,
      [7, true] as const,
    ]) {
      const log = await allReduce(`--abi ${abi}`);
      const append = log
        .ofType('ProxyCtrl')
        .filter((ctrl) => states(ctrl)[0] === 17)
        .find((ctrl) => stateLine(ctrl, 18).fields.appended !== '0')!;
      for (const { startAt } of log.ofType('ProxyOp')) {
        expect(startAt > append.startAt && startAt < append.stopAt).toBe(inAppend);
      }
    }
  });

  test.each([4, 5, 6, 7])('v%i: state 19, steps with sizes', async (abi) => {
    for (const log of [await allReduce(`--abi ${abi}`), await exchange(`--abi ${abi}`)]) {
      for (const op of Object.values(opsOf(log))) {
        expect(states(op)).toEqual([19]);
        for (const step of log.childrenOf(op, 'ProxyStep')) {
          if (isSend(op)) expect(states(step).join(' ')).toMatch(/^8( 20)+ 9$/);
          else expect(states(step)).toEqual([10, 11, 12]);
          const size = stateLine(step, isSend(op) ? 9 : 11).fields.transSize;
          expect(size).toBe(String(log.ofType('Coll').length > 0 ? 2 ** 18 : 2 ** 15));
        }
      }
    }
  });

  test('the steps of an operation without handle: none until v4, then without parent', async () => {
    for (const [abi, steps] of [[2, 0] as const, [4, 0] as const, [5, 8] as const]) {
      expect((await allReduce(`--abi ${abi}`, { ECHO_NULL: '0x8' })).ofType('ProxyStep')).toHaveLength(steps);
    }
  });
});

describe('kernels', () => {
  test('v1, v2: none; v3: no times; from v4 on times', async () => {
    const kernels = async (abi: number) => (await allReduce(`--abi ${abi}`)).ofType('KernelCh');
    expect([await kernels(1), await kernels(2)]).toEqual([[], []]);
    const [early] = await kernels(3);
    expect(early).toMatchObject({ start: { type: 'KernelCh' }, states: [], stops: 1 });
    expect(field(early!, 'pTimer')).toBeUndefined();
    for (const abi of [4, 5, 6, 7]) {
      const [kernel] = await kernels(abi);
      expect(BigInt(stateLine(kernel!, 22).fields.pTimer!)).toBeGreaterThan(
        BigInt(field(kernel!, 'pTimer')!),
      );
      expect(kernel!.stops).toBe(1);
    }
  });
});

test('KernelCh: from v7 on on a thread of its own', async () => {
  for (const [abi, thread] of [
    [6, 'progress'],
    [7, 'profiler'],
  ] as const) {
    const log = await exchange(`--abi ${abi}`);
    const kernels = log.ofType('KernelCh');
    expect(kernels).toHaveLength(2);
    const lines = kernels.flatMap(({ start, states: said }) => [start, ...said]);
    expect(new Set(lines.map((line) => line.thread))).toEqual(new Set([thread]));
  }
});

describe('through an adapter', () => {
  test('v4 on NCCL 2.29', async () => {
    const log = await exchange('--abi 6 --plugin-abi 4');
    expect(log.run.summary).toMatchObject({ pluginVersion: 4 });
    const starts = ['start P2p < Group', 'start P2p < Group'];
    expect(log.shapes('api')).toEqual(['init', ...group(...starts, 'stop P2p', 'stop P2p'), 'finalize']);
    expect(log.lines[0]!.fields).toMatchObject({ name: 'world', nRanks: '2' });
    // The adapter does not copy it: this is what was in memory before.
    expect(fields(log, 'P2p').map(({ nChannels }) => nChannels)).toEqual([String(0xa5), String(0xa5)]);
    for (const op of log.ofType('ProxyOp')) expect(states(op)).toEqual([19]);
    expect(states(log.ofType('KernelCh')[0]!)).toEqual([22]);
  });

  test('v3 on NCCL 2.29', async () => {
    const log = await allReduce('--abi 6 --plugin-abi 3');
    expect(log.shapes('api')).toEqual(['init', ...group('start Coll < Group', 'stop Coll'), 'finalize']);
    expect(log.lines[0]!.fields).toEqual({});
    expect(fields(log, 'Coll')).toMatchObject([{ ...unreported, func: 'AllReduce', nMaxChannels: '1' }]);
    const ops = Object.values(opsOf(log));
    expect(ops.map(states)).toEqual([[], []]);
    for (const step of ops.flatMap((op) => log.childrenOf(op, 'ProxyStep'))) {
      expect([[8, 9].join(), [10, 11, 12].join()]).toContain(states(step).join());
      for (const line of step.states) expect(line.fields).toEqual({ zero: '1' });
    }
    expect(log.ofType('KernelCh')).toMatchObject([{ states: [], stops: 1 }]);
  });

  test('v1 on NCCL 2.28', async () => {
    const log = await run('--abi 5 --plugin-abi 1 --ops allreduce:1M,group{send+recv:64K}');
    expect(fields(log, 'Coll')).toMatchObject([
      { ...unreported, func: '4', trafficBytes: '0', datatype: '7' },
    ]);
    expect(fields(log, 'P2p')).toMatchObject([
      { ...unreported, func: '6' },
      { ...unreported, func: '7' },
    ]);
    // NCCL's core counts in transfers, whatever the adapter.
    expect(field(opsOf(log).send, 'nSteps')).toBe('4');
    expect(log.ofType('ProxyOp').flatMap(states)).toEqual([]);
    expect(log.ofType('KernelCh')).toEqual([]);
  });

  test('v1 on NCCL 2.25: nothing is lost', async () => {
    const log = await allReduce('--abi 2 --plugin-abi 1');
    expect(fields(log, 'Coll')).toMatchObject([{ ...comm, func: '4' }]);
    expect(opsOf(log).send.start.fields).toMatchObject({ nSteps: '4' });
    expect(detailsOf(opsOf(log).send, 3)).toHaveLength(4);
  });

  test.each([
    [6, 5],
    [7, 6],
  ])('on v%i: v%i gets everything, and no NULL arguments', async (abi, table) => {
    const log = await allReduce(`--abi ${abi} --plugin-abi ${table} --user-tag 9`);
    expect(log.run.summary).toMatchObject({ pluginVersion: table });
    expect(log.shapes('api')).toContain('state GroupApi 23');
    expect(log.shapes('api')).toContain('start Coll < CollApi');
    expect(fields(log, 'Coll')[0]!.userTag).toBeUndefined();
  });

  test('calls that an adapter swallows are not in the truth', async () => {
    const log = await allReduce('--abi 7 --plugin-abi 3');
    const starts = log.lines.filter(({ call }) => call === 'start').length;
    const said = log.lines.filter(({ call }) => call === 'state').length;
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
    expect([sum(log.totals.starts), sum(log.totals.states)]).toEqual([starts, said]);
  });
});

test('an init that fails ends everything until NCCL 2.27, and nothing since', async () => {
  const echo = { ECHO_INIT: '3' };
  expect((await allReduce('--abi 4', echo)).lines.map(({ call }) => call)).toEqual(['init']);
  const log = await allReduce('--abi 5', echo);
  expect(log.ofType('Coll')).toHaveLength(1);
  expect(log.lines.filter(({ call }) => call === 'finalize')).toEqual([]);
});

describe('until NCCL 2.25', () => {
  test.each([
    [0x1, []],
    [0x2, ['Coll', 'Group', 'P2p']],
    [0x4, ['Group']],
    [0x8, ['Coll', 'Group', 'P2p', 'ProxyOp']],
    [0x10, ['Coll', 'Group', 'P2p', 'ProxyOp', 'ProxyStep']],
    [0x20, ['ProxyCtrl']],
    [0x40, []],
  ])('mask %s', async (mask, types) => {
    const log = await run('--abi 2 --ops allreduce:4K,group{send+recv:4K}', { ECHO_MASK: String(mask) });
    expect([...new Set([...log.events.values()].map(({ start }) => start.type))].sort()).toEqual(types);
  });

  test('a task without handle is stopped too', async () => {
    const stops = (log: Log) =>
      log.lines.filter(({ call, handle }) => call === 'stop' && handle === 0).length;
    expect(stops(await allReduce('--abi 2', { ECHO_NULL: '0x2' }))).toBe(1);
    expect(stops(await allReduce('--abi 3', { ECHO_NULL: '0x2' }))).toBe(0);
  });
});

/** The states of one kind that report the progress of an operation. */
function detailsOf(op: LoggedEvent, state: number) {
  return op.states.filter((line) => line.state === state).map((line) => line.fields);
}
