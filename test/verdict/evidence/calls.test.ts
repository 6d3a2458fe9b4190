/** The calls of one file, looked up for each of many collectives. */

import { expect, it } from 'vitest';
import { type Column, narrow } from '../../../src/base/columns.js';
import type { TraceNs } from '../../../src/base/time.js';
import { rankCalls } from '../../../src/verdict/facts/calls.js';
import { endTable } from '../../support/made_up/end_table.js';
import type { RankScan } from '../../../src/scan/scan.js';

const MANY = 2000;

/** `read`: called for each number that is read. */
const counted = (column: Column, read: () => void): Column =>
  new Proxy(column, {
    get: (target, key) => {
      if (typeof key === 'string' && /^\d/.test(key)) read();
      return Reflect.get(target, key, target) as unknown;
    },
  });

/** A process with two GPUs; the second one does not enter the last collective. `read`: of each number in the table. */
function scanned(read: () => void): Pick<RankScan, 'works' | 'workEnds' | 'communicators'> {
  const rows = 2 * MANY - 1;
  const column = (number: (row: number) => number) =>
    narrow(Array.from({ length: rows }, (_, row) => number(row)));
  const communicator = { commId: 1n, name: 'world', nRanks: 2, finalizeTick: null };
  return {
    workEnds: endTable([]),
    communicators: [0, 1].map((rank) => ({ ...communicator, number: rank, rank })) as never,
    works: {
      key: column(() => 0),
      group: column(() => -1),
      comm: column((row) => row % 2),
      func: column(() => 0),
      funcs: ['AllReduce'],
      seq: counted(
        column((row) => row >> 1),
        read,
      ),
      peer: column(() => -1),
      ordinal: column(() => 0),
      ordinalAbsolute: column(() => 1),
      count: column(() => 0),
      datatype: column(() => 0),
      datatypes: ['ncclFloat32'],
      plan: column(() => 0),
      plans: ['RING/SIMPLE'],
      root: column(() => -1),
      arrival: column(() => 0),
      channels: column(() => 2),
      enqueued: column(() => 0),
    },
  };
}

it('knows which GPUs entered, and does not read the table again for each collective', () => {
  let reads = 0;
  const calls = rankCalls(
    scanned(() => reads++),
    (tick) => tick as TraceNs,
  );
  const entered = Array.from({ length: MANY }, (_, seq) =>
    calls.enteredAs(1n, { func: 'AllReduce', seq, ordinal: 0 }),
  );
  expect(entered.slice(0, -1)).toEqual(Array.from({ length: MANY - 1 }, () => [0, 1]));
  expect(entered.at(-1)).toEqual([0]);
  expect(calls.enteredAs(1n, { func: 'Broadcast', seq: 0, ordinal: 0 })).toEqual([]);
  expect(reads).toBeLessThan(10 * MANY);
});

it('knows which sends were begun, and does not read the table again for each one', () => {
  let reads = 0;
  const { works, communicators } = scanned(() => undefined);
  const rows = works.seq.length;
  const column = (number: (row: number) => number) =>
    narrow(Array.from({ length: rows }, (_, row) => number(row)));
  const peer = counted(
    column((row) => row % 7),
    () => reads++,
  );
  const sends = {
    ...works,
    funcs: ['Send'],
    seq: column(() => -1),
    peer,
    ordinal: column((row) => Math.floor(row / 14)),
    // The first one may be any.
    ordinalAbsolute: column((row) => Number(row > 0)),
  };
  const scan = { works: sends, workEnds: endTable([]), communicators };
  const calls = rankCalls(scan, (tick) => tick as TraceNs);
  const isThere = (row: number, rank = row % 2): boolean =>
    calls.transferred(1n, { rank, func: 'Send', peer: row % 7, ordinal: Math.floor(row / 14) }) !== null;
  const asked = Array.from({ length: rows }, (_, row) => isThere(row));
  expect(asked).toEqual(asked.map((_, row) => row > 0));
  expect(isThere(rows + 14)).toBe(false);
  expect(isThere(1, 5)).toBe(false);
  expect(calls.transferred(1n, { rank: 1, func: 'Recv', peer: 1, ordinal: 0 })).toBeNull();
  expect(reads).toBeLessThan(50 * rows);
});
