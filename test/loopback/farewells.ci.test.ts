// How communicators end, also too early: with work under way, before those that share their proxy, by ncclCommAbort.

import { expect, test } from 'vitest';
import { Log, field } from './log.js';
import { Run, eventsOf } from './loopback.js';

test('a communicator split from the world: ranks in another order, and a context of its own', async () => {
  const log = await Log.of('--ranks 4 --groups tp=4:reversed --ops allreduce@tp:4K,broadcast@tp(0):4K', {
    rank: 1,
    echo: { NCCL_ALLGATHERV_ENABLE: '0' },
  });
  const inits = log.lines
    .filter(({ call }) => call === 'init')
    .map(({ fields }) => `${fields.name} ${fields.rank}`);
  expect(inits).toEqual(['world 1', 'tp 2']);
  for (const coll of log.ofType('Coll')) expect(coll.start.fields).toMatchObject({ context: '2', rank: '2' });
  // One proxy for both: its own events are the parent's.
  expect(new Set(log.ofType('ProxyCtrl').map((event) => field(event, 'context')))).toEqual(new Set(['1']));
  expect(new Set(log.ofType('ProxyOp').map((event) => field(event, 'context')))).toEqual(new Set(['2']));
});

test('the parent is finalized, its proxy goes on for the children under its context', async () => {
  const run = await Run.of(
    '--ranks 4 --groups 2 --exit parent-first --iterations 1 --ops allreduce:4K,allreduce@tp:300K',
    { echo: {} },
  );
  expect(run.exit).toMatchObject({ code: 0, stderr: '' });
  const log = run.callbacks(2);
  const finalizedAt = log.findIndex(({ call, handle }) => call === 'finalize' && handle === 1);
  const behind = log.slice(finalizedAt + 1);
  const starts = (type: string) => behind.filter((line) => line.type === type);
  expect(starts('Coll')).toMatchObject([{ fields: { context: '2' } }]);
  expect(starts('ProxyCtrl').length).toBeGreaterThan(0);
  for (const { fields } of starts('ProxyCtrl')) expect(fields.context).toBe('1');
  expect(log.at(-1)).toMatchObject({ call: 'finalize', handle: 2 });
  expect(run.totals(2)).toMatchObject({ inits: 2, finalizes: 2 });
  run.remove();
});

test('finalize with work under way: its records follow', async () => {
  const args = '--ranks 2 --exit hasty --iterations 1 --slow-rank 1 --slow-us 100000 --ops allreduce:2M';
  const run = await Run.of(args, { echo: {} });
  expect(run.exit).toMatchObject({ code: 0, stderr: '' });
  const log = run.callbacks(0);
  const finalizedAt = log.findIndex(({ call }) => call === 'finalize');
  const events = eventsOf(log);
  const ends = [...events.values()].filter(({ start }) => ['ProxyOp', 'KernelCh'].includes(start.type));
  expect(ends).toHaveLength(6);
  for (const { stops, stopAt } of ends) {
    expect(stops).toBe(1);
    expect(stopAt).toBeGreaterThan(finalizedAt);
  }
  expect(run.totals(0)).toMatchObject({ final: true, finalizes: 1 });
  run.remove();
});

test('ncclCommAbort: everything under way stays open, finalize follows', async () => {
  const args = '--ranks 3 --skip-rank 2 --skip-at 1 --hang-seconds 0.3 --hang-signal ABORT --iterations 2';
  const run = await Run.of(`${args} --ops allreduce:1M`, { echo: {} });
  expect(run.exit.code).toBe(4);
  expect(run.summary.perRank.map(({ ended }) => ended)).toEqual(Array(3).fill('ok'));
  for (const rank of [0, 1, 2]) {
    const log = run.callbacks(rank);
    expect(log.at(-1)).toMatchObject({ call: 'finalize' });
    const open = [...eventsOf(log).values()].filter(({ stops }) => stops === 0);
    const kinds = new Set(open.map(({ start }) => start.type));
    expect(kinds.has('ProxyOp') && kinds.has('KernelCh')).toBe(rank !== 2);
    expect(run.totals(rank)).toMatchObject({ final: true, finalizes: 1 });
  }
  run.remove();
});
