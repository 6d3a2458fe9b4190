/** The calls of one file, looked up for each of many collectives. */

import { expect, it } from 'vitest';
import type { TraceNs } from '../../../src/base/time.js';
import { rankCalls } from '../../../src/verdict/evidence/calls.js';
import type { RankScan } from '../../../src/scan/scan.js';

const MANY = 2000;

/** A process with two GPUs; the second one does not enter the last collective. `read`: of each number in the table. */
function scanned(read: () => void): Pick<RankScan, 'works' | 'communicators'> {
  const rows = 2 * MANY - 1;
  const counted = <T extends Float64Array | Int32Array | Uint32Array>(numbers: T): T =>
    new Proxy(numbers, {
      get: (target, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) read();
        return Reflect.get(target, key, target) as unknown;
      },
    });
  const communicator = { commId: 1n, name: 'world', nRanks: 2, finalizeTick: null };
  return {
    communicators: [0, 1].map((rank) => ({ ...communicator, number: rank, rank })) as never,
    works: {
      keys: new Float64Array(rows),
      comm: Int32Array.from({ length: rows }, (_, row) => row % 2),
      func: new Uint16Array(rows),
      funcs: ['AllReduce'],
      seq: counted(Float64Array.from({ length: rows }, (_, row) => row >> 1)),
      peer: new Int32Array(rows).fill(-1),
      ordinal: new Uint32Array(rows),
      ordinalAbsolute: new Uint8Array(rows).fill(1),
      count: new Float64Array(rows),
      datatype: new Uint16Array(rows),
      datatypes: ['ncclFloat32'],
      plan: new Uint16Array(rows),
      plans: ['RING/SIMPLE'],
      root: new Int32Array(rows).fill(-1),
      arrival: new Float64Array(rows),
      enqueued: new Float64Array(rows),
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
  const peer = new Proxy(
    Int32Array.from({ length: rows }, (_, row) => row % 7),
    {
      get: (target, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, target) as unknown;
      },
    },
  );
  const sends = {
    ...works,
    funcs: ['Send'],
    seq: new Float64Array(rows).fill(-1),
    peer,
    ordinal: Uint32Array.from({ length: rows }, (_, row) => Math.floor(row / 14)),
    // The first one may be any.
    ordinalAbsolute: Uint8Array.from({ length: rows }, (_, row) => Number(row > 0)),
  };
  const scan: Pick<RankScan, 'works' | 'communicators'> = { works: sends, communicators };
  const calls = rankCalls(scan, (tick) => tick as TraceNs);
  const isThere = (row: number, rank = row % 2): boolean =>
    calls.transferred(1n, { rank, func: 'Send', peer: row % 7, ordinal: Math.floor(row / 14) });
  const asked = Array.from({ length: rows }, (_, row) => isThere(row));
  expect(asked).toEqual(asked.map((_, row) => row > 0));
  expect(isThere(rows + 14)).toBe(false);
  expect(isThere(1, 5)).toBe(false);
  expect(calls.transferred(1n, { rank: 1, func: 'Recv', peer: 1, ordinal: 0 })).toBe(false);
  expect(reads).toBeLessThan(50 * rows);
});
