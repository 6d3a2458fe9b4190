// PXN: the progress thread of another process executes a rank's sends. That process gets the pid and the pointers of the
// originator.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { field, states } from './log.js';
import { Run, eventsOf } from './loopback.js';
import type { LoggedEvent } from './loopback.js';

/** Rank 0's sends go to rank 1, and rank 2 executes them. */
const args = '--ranks 4 --channels 2 --ops allreduce:256K,group{send+recv:128K} --iterations 2 --pxn 0:2';
const ofType = (events: Map<number, LoggedEvent>, type: string) =>
  [...events.values()].filter(({ start }) => start.type === type);

describe.each([2, 3, 4, 6, 7])('v%i', (abi) => {
  let run: Run;
  let events: Map<number, LoggedEvent>[];
  beforeAll(async () => {
    run = await Run.of(`${args} --abi ${abi} --net-events ib`, { echo: {} });
    events = [0, 1, 2, 3].map((rank) => eventsOf(run.callbacks(rank)));
  });
  afterAll(() => {
    run.remove();
  });
  const pid = (rank: number) => String(run.summary.perRank[rank]!.pid);
  const foreign = () => ofType(events[2]!, 'ProxyOp').filter((op) => field(op, 'pid') === pid(0));

  test('the data arrives', () => {
    expect(run.exit).toMatchObject({ code: 0, stderr: '' });
    expect(run.summary.counts).toMatchObject({ wrong: 0, verified: 4 * 3 * 2 });
  });

  test('the originator sends nothing itself, and receives as usual', () => {
    const directions = ofType(events[0]!, 'ProxyOp').map((op) => field(op, 'isSend'));
    expect(new Set(directions)).toEqual(new Set(['0']));
    for (const rank of [1, 3]) {
      for (const op of ofType(events[rank]!, 'ProxyOp')) expect(field(op, 'pid')).toBe(pid(rank));
    }
  });

  test('the executor gets operations with the pid, rank, parent and context of the originator', () => {
    const ops = foreign();
    expect(ops.length).toBe(2 * (2 + 1)); // an AllReduce on two channels, a Send on one
    for (const op of ops) {
      expect(op.start.fields).toMatchObject({ isSend: '1', rank: '0', peer: '1' });
      expect(op.stops).toBe(1);
      // A handle of the other process: there it is a task.
      const task = events[0]!.get(Number(field(op, 'parent')))!;
      expect(['Coll', 'P2p']).toContain(task.start.type);
      expect(field(op, 'context')).toBe(field(task, 'context'));
    }
  });

  test('its steps have an own parent and a foreign context, and so have the events of the network', () => {
    for (const op of foreign()) {
      const childrenOf = (parent: LoggedEvent, type: string) =>
        ofType(events[2]!, type).filter((e) => field(e, 'parent') === String(parent.start.handle));
      const steps = childrenOf(op, 'ProxyStep');
      expect(steps).toHaveLength(Number(field(op, 'nSteps')));
      for (const step of steps) {
        expect(step.start.fields).toMatchObject({ rank: '0', context: field(op, 'context') });
        expect(states(step)[0]).toBe(8);
        expect(childrenOf(step, 'NetPlugin')).toHaveLength(abi >= 3 ? 1 : 0);
      }
    }
  });

  test('the truth says which rank executed which send for which rank', () => {
    const posted = run.truth(0).filter(({ kind }) => kind === 'pxnOp');
    const executed = run.proxyOps(2).filter(({ origin }) => origin === 0);
    const key = (op: Record<string, unknown>) => [op.task, op.comm, op.channel, op.peer, op.nSteps].join();
    expect(posted.map(key).sort()).toEqual(executed.map(key).sort());
    for (const op of posted) expect(op).toMatchObject({ executor: 2, isSend: true });
    for (const op of executed) expect(op.stepsDone).toBe(op.nSteps);
    expect(run.totals(2).starts.ProxyOp).toBe(run.proxyOps(2).length);
    expect(executed.length).toBe(foreign().length);
  });
});

test('sends to the executor stay at home', async () => {
  const run = await Run.of('--ranks 3 --channels 1 --ops alltoall:96K --iterations 1 --pxn 0:1', {
    echo: {},
  });
  expect(run.summary.counts.wrong).toBe(0);
  const peers = (rank: number) =>
    run.proxyOps(rank).flatMap(({ isSend, peer, origin }) => (isSend ? [`${origin ?? rank}>${peer}`] : []));
  expect([peers(0).sort(), peers(1).sort()]).toEqual([['0>1'], ['0>2', '1>0', '1>2']]);
  run.remove();
});

test('an executor that dies leaves the originator waiting; the truth of both says how far they got', async () => {
  const run = await Run.of(
    '--ranks 4 --channels 1 --ops allreduce:256K --pxn 0:2 --kill-rank 2 --kill-at 1 --hang-seconds 0.3',
    { echo: {} },
  );
  expect(run.summary.ending).toBe('hung');
  expect(run.tasks(0).at(-1)).toMatchObject({ iteration: 1, completed: false });
  expect(run.truth(0).filter(({ kind }) => kind === 'pxnOp')).toHaveLength(2);
  run.remove();
});
