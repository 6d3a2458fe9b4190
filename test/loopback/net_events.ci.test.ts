// NetPlugin events of NCCL's own network plugins and of an unknown one, as the echo plugin logs them. The data is read
// during the call, because NCCL frees it afterwards.

import { describe, expect, test } from 'vitest';
import { Log, field, stateLine, states } from './log.js';
import type { LoggedEvent } from './loopback.js';

const IB_V1 = '65537';
const SOCKET_V1 = '131073';
const POISON = { opcode: String(0xa5a5a5a5 | 0), length: '11936128518282651045' };

/** One channel, 4 transfers of 256 KiB in each direction. */
const run = (args: string, echo: Record<string, string> = {}) =>
  Log.of(`--ranks 2 --channels 1 --ops allreduce:1M ${args}`, { echo });
const stepsOf = (log: Log) =>
  log.ofType('ProxyOp').flatMap((op) => {
    const isSend = field(op, 'isSend') === '1';
    return log.childrenOf(op, 'ProxyStep').map((step) => ({ step, isSend }));
  });
const stopsOfNull = (log: Log) =>
  log.lines.filter(({ call, handle }) => call === 'stop' && handle === 0).length;
const isWithin = (child: LoggedEvent, step: LoggedEvent) =>
  child.startAt > step.startAt && child.stopAt < step.stopAt;

describe('InfiniBand', () => {
  test.each([3, 4, 5, 6, 7])('v%i: an event per queue pair, stopped twice', async (abi) => {
    const log = await run(`--abi ${abi} --net-events ib:2`);
    const steps = stepsOf(log);
    expect(steps).toHaveLength(8);
    for (const { step, isSend } of steps) {
      const events = log.childrenOf(step, 'NetPlugin');
      expect(events.map(({ start }) => start.fields.qp)).toEqual(['256', '257']);
      for (const event of events) {
        expect(event.start).toMatchObject({
          thread: 'progress',
          fields: { id: IB_V1, type: '1', rank: '0' },
        });
        expect(event.stops).toBe(2);
        expect(isWithin(event, step)).toBe(true);
        // InfiniBand sets them for sends only.
        expect(event.start.fields).toMatchObject(isSend ? { opcode: '0', length: '262144' } : POISON);
      }
      // Each stops when its queue pair is done, and all stop again with the request.
      const [first, second] = events.map(({ start }) => start.handle);
      const stops = log.lines.filter(
        ({ call, handle }) => call === 'stop' && [first, second].includes(handle),
      );
      expect(stops.map(({ handle }) => handle)).toEqual([first, second, first, second]);
    }
  });

  test('a small message carries its number', async () => {
    const log = await Log.of('--ranks 2 --channels 1 --net-events ib --ops allreduce:4K/ll');
    const sends = stepsOf(log).filter(({ isSend }) => isSend);
    for (const { step } of sends) {
      const [event] = log.childrenOf(step, 'NetPlugin');
      const { transSize } = stateLine(step, 9).fields;
      expect(event!.start.fields).toMatchObject({ opcode: '1', length: transSize });
    }
  });

  test('without its bit in the mask nothing starts, and NULL is stopped', async () => {
    const log = await run('--net-events ib:2', { ECHO_MASK: String(0xfff & ~0x80) });
    expect(log.ofType('NetPlugin')).toEqual([]);
    expect(stopsOfNull(log)).toBe(8 * 2 * 2);
  });

  test.each([1, 2])('NCCL before 2.26 (v%i) does not know them', async (abi) => {
    const log = await run(`--abi ${abi} --net-events ib`);
    expect([log.ofType('NetPlugin').length, stopsOfNull(log)]).toEqual([0, 0]);
  });

  test('through adapters: v3 and v4 get them, v2 only the stops', async () => {
    for (const [table, events, stops] of [
      [4, 8, 0],
      [3, 8, 0],
      [2, 0, 16],
    ] as const) {
      const log = await run(`--abi 6 --plugin-abi ${table} --net-events ib`);
      expect([log.ofType('NetPlugin').length, stopsOfNull(log)]).toEqual([events, stops]);
    }
  });
});

describe('sockets', () => {
  test('inline: one event on the progress thread, with the size that was exchanged', async () => {
    const log = await run('--net-events socket --net socket');
    for (const { step, isSend } of stepsOf(log)) {
      const events = log.childrenOf(step, 'NetPlugin');
      expect(events).toHaveLength(1);
      const fields = { id: SOCKET_V1, type: '1', op: isSend ? '0' : '1', length: '262144' };
      expect(events[0]).toMatchObject({ stops: 1, start: { thread: 'progress', fields } });
      expect(isWithin(events[0]!, step)).toBe(true);
    }
  });

  test('helper threads: the parent is read from where the first request pointed', async () => {
    const log = await run('--net-events sockets --net socket');
    const events = log.ofType('NetPlugin');
    expect(events).toHaveLength(8);
    expect(new Set(events.map(({ start }) => start.thread))).toEqual(new Set(['socket']));
    expect(events.map(({ stops }) => stops)).toEqual(Array(8).fill(1));
    for (const direction of ['0', '1']) {
      const some = events.filter((event) => field(event, 'op') === direction);
      expect(some).toHaveLength(4);
      // The slot of step 0: its handle, or none once the step has ended.
      const [parent] = stepsOf(log).filter(({ isSend }) => isSend === (direction === '0'));
      const allowed = [String(parent!.step.start.handle), '0'];
      for (const event of some) expect(allowed).toContain(field(event, 'parent'));
    }
  });

  test('the data that helper threads move is right, with several communicators too', async () => {
    const log = await Log.of(
      '--ranks 4 --groups 2 --net-events sockets --ops allreduce@tp:256K,group{send+recv:64K},allgather:128K --iterations 3',
    );
    expect(log.run.summary.counts).toMatchObject({ wrong: 0, verified: 4 * 4 * 3 });
    expect(log.ofType('NetPlugin').length).toBe(log.ofType('ProxyStep').length);
  });
});

describe('an external network plugin', () => {
  test.each([4, 5, 6, 7])('v%i: its own id, updates on the way', async (abi) => {
    const log = await run(`--abi ${abi} --net-events external`);
    const events = log.ofType('NetPlugin');
    expect(events).toHaveLength(8);
    for (const event of events) {
      expect(field(event, 'id')).toBe(String((0x7f << 16) | 1));
      expect(states(event)).toEqual([21, 21]);
      expect(event.states.map(({ fields }) => fields.data)).toEqual(['1', '1']);
      expect(event.stops).toBe(1);
    }
  });

  test('NCCL 2.26 has no updates', async () => {
    const log = await run('--abi 3 --net-events external');
    expect(log.ofType('NetPlugin').flatMap(states)).toEqual([]);
    expect(log.ofType('NetPlugin')).toHaveLength(8);
  });

  test('a version of InfiniBand data that is not known yet', async () => {
    const log = await run('--net-events ib --net-event-id 65538');
    expect(new Set(log.ofType('NetPlugin').map((event) => field(event, 'id')))).toEqual(new Set(['65538']));
  });
});

test('the truth counts calls of the helper threads', async () => {
  const log = await run('--net-events sockets');
  expect(log.totals.starts.NetPlugin).toBe(log.ofType('NetPlugin').length);
  expect(log.totals.stops).toBe(log.lines.filter(({ call }) => call === 'stop').length);
});
