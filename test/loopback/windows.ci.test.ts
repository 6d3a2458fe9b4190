// Collectives on memory that all ranks can reach: by copy engines, which have events of their own since NCCL 2.29, and
// by symmetric-memory kernels, of which NCCL reports almost nothing before 2.31.

import { describe, expect, test } from 'vitest';
import { Log, field, stateLine, states } from './log.js';
import { Run } from './loopback.js';

const ALL = { ECHO_MASK: String(0xffff) };
const copies = (args: string, echo: Record<string, string> = ALL) =>
  Log.of(`--ranks 4 --channels 2 --ce --ops allgather:1M ${args}`, { rank: 2, echo });
const symmetric = (args: string, echo: Record<string, string> = ALL) =>
  Log.of(`--ranks 4 --channels 2 --symmetric --ops allreduce:1M ${args}`, { rank: 2, echo });

/** GroupApi and CollApi, with nothing in between but what `inside` says. */
const apiOnly = (...inside: string[]) => [
  'init',
  'start GroupApi < NULL',
  'state GroupApi 23 NULL',
  'start CollApi < GroupApi',
  'stop CollApi',
  'state GroupApi 24 NULL',
  ...inside,
  'stop GroupApi',
  'finalize',
];

describe('copy engines', () => {
  test.each([6, 7])('v%i: CeColl and its parts instead of a kernel', async (abi) => {
    const log = await copies(`--abi ${abi}`);
    const part = (name: string) => [`start ${name} < CeColl`, `stop ${name}`];
    expect(log.shapes('api')).toEqual(
      apiOnly(
        'start CeColl < CollApi',
        ...part('CeSync'),
        ...part('CeBatch'),
        ...part('CeSync'),
        'stop CeColl',
      ),
    );
    const [coll] = log.ofType('CeColl');
    expect(coll!.start.fields).toMatchObject({
      ...{ rank: '2', seq: '0', ceSeq: '0', func: 'AllGather', count: '65536', datatype: 'ncclFloat32' },
      ...{ sync: 'UC', intraBatchSync: '0', batchSize: '0', numBatches: '0' },
    });
    expect(log.ofType('CeSync').map((sync) => field(sync, 'isComplete'))).toEqual(['0', '1']);
    expect(log.ofType('CeSync').map((sync) => field(sync, 'nRanks'))).toEqual(['4', '4']);
    expect(log.ofType('CeBatch')[0]!.start.fields).toMatchObject({
      numOps: '3',
      totalBytes: String(3 * 2 ** 18),
    });
    expect(log.ofType('ProxyOp')).toEqual([]);
  });

  test('their numbers count by themselves', async () => {
    const log = await copies('--iterations 2 --ops allgather:64K*2,allreduce:64K');
    expect(log.ofType('CeColl').map((coll) => field(coll, 'ceSeq'))).toEqual(['0', '1', '2', '3']);
    expect(log.ofType('Coll').map(({ start }) => `${start.fields.func} ${start.fields.seq}`)).toEqual([
      'AllReduce 0',
      'AllReduce 1',
    ]);
  });

  test.each([1, 2, 3, 4, 5])('through the adapter of v%i: no event of them', async (table) => {
    const log = await copies(`--abi 6 --plugin-abi ${table}`);
    const kinds = new Set([...log.events.values()].map(({ start }) => start.type));
    for (const kind of ['CeColl', 'CeSync', 'CeBatch', '?']) expect(kinds).not.toContain(kind);
    expect(log.run.summary.counts).toMatchObject({ verified: 4, wrong: 0 });
  });

  test.each([
    [0x1000, ['CeColl']],
    [0x2000, ['CeColl', 'CeSync']],
    [0x4000, ['CeBatch', 'CeColl']],
    [0x2, []],
  ])('mask %s', async (mask, kinds) => {
    const log = await copies('', { ECHO_MASK: String(mask) });
    const seen = [...new Set([...log.events.values()].map(({ start }) => start.type))];
    expect(seen.sort()).toEqual([...kinds, 'GroupApi', 'CollApi'].sort());
  });
});

describe('symmetric memory', () => {
  test.each([5, 6])('v%i: the call and nothing else', async (abi) => {
    const log = await symmetric(`--abi ${abi}`);
    expect(log.shapes('api')).toEqual(apiOnly());
    expect(new Set([...log.events.values()].map(({ start }) => start.type))).toEqual(
      new Set(['GroupApi', 'CollApi', 'ProxyCtrl']),
    );
  });

  test.each([1, 2, 3, 4])('v%i: nothing at all', async (abi) => {
    const log = await symmetric(`--abi ${abi}`);
    expect(log.shapes('api')).toEqual(['init', 'finalize']);
  });

  test('v7: a Coll that says so, and kernels with phases', async () => {
    const log = await symmetric('--abi 7 --gpu-tick 1');
    const [coll] = log.ofType('Coll');
    expect(coll!.start.fields).toMatchObject({
      ...{ func: 'AllReduce', isSymColl: '1', kernelVariant: 'AllReduce_RSxLD_AGxST', algo: 'RSxLD_AGxST' },
      ...{ nChannels: '2', proto: '' },
    });
    const kernels = log.childrenOf(coll!, 'KernelCh');
    expect(kernels.map((kernel) => field(kernel, 'channel'))).toEqual(['0', '1']);
    for (const kernel of kernels) {
      const phases = log.childrenOf(kernel, 'KernelPhase');
      expect(phases.map(({ start }) => start.fields.name)).toEqual(['initial_sync', 'compute', 'final_sync']);
      expect(phases.map(({ start }) => start.fields.phase)).toEqual(['0', '1', '2']);
      let last = BigInt(field(kernel, 'pTimer')!);
      for (const phase of phases) {
        expect([states(phase), phase.stops, phase.start.thread]).toEqual([[31], 1, 'profiler']);
        const [begin, end] = [field(phase, 'pTimer')!, stateLine(phase, 31).fields.pTimer!].map(BigInt);
        expect(begin! >= last && end! > begin!).toBe(true);
        last = end!;
        // While the kernel's event is still open.
        expect(phase.startAt > kernel.startAt && phase.stopAt < kernel.stopAt).toBe(true);
      }
      expect(BigInt(stateLine(kernel, 22).fields.pTimer!)).toBeGreaterThanOrEqual(last);
    }
    expect(log.ofType('ProxyOp')).toEqual([]);
  });

  test('v7: asking for phases also brings kernels; without either, the call and nothing else', async () => {
    const phases = await symmetric('--abi 7', { ECHO_MASK: String(0x8000) });
    expect(phases.ofType('KernelCh')).toHaveLength(2);
    const none = await symmetric('--abi 7', { ECHO_MASK: String(0xffff & ~0x8040) });
    expect(none.shapes('api')).toEqual(apiOnly());
  });

  test('v7 through the adapter of v6: no phases, nothing of the variant', async () => {
    const log = await symmetric('--abi 7 --plugin-abi 6');
    expect(log.ofType('KernelPhase')).toEqual([]);
    expect(log.ofType('Coll')[0]!.start.fields.kernelVariant).toBeUndefined();
    expect(log.ofType('KernelCh')).toHaveLength(2);
  });
});

test('the data is right, beside other work, on several communicators and uneven sizes', async () => {
  const ops =
    'allgather:100K,allreduce@tp:77K*2,reducescatter:9K,allreduce:1M,group{send+recv:64K},allgather@dp:3K';
  for (const engine of ['--ce', '--symmetric', '--ce --symmetric']) {
    const run = await Run.of(
      `--ranks 6 --groups tp=2 --groups-strided dp=2 --iterations 3 --abi 7 ${engine} --ops ${ops}`,
      { echo: ALL },
    );
    run.remove();
    expect(run.exit).toMatchObject({ code: 0, stderr: '' });
    expect(run.summary.counts).toMatchObject({ wrong: 0, verified: 6 * 8 * 3 });
  }
});

test('a rank that never comes: the others wait for it', async () => {
  const run = await Run.of(
    '--ranks 3 --symmetric --ops allreduce:64K --iterations 3 --skip-rank 1 --skip-at 1 --hang-seconds 0.2',
    { echo: ALL },
  );
  expect(run.summary.ending).toBe('hung');
  expect(run.tasks(0).map(({ engine, completed }) => [engine, completed])).toEqual([
    ['symmetric', true],
    ['symmetric', false],
  ]);
  run.remove();
});
