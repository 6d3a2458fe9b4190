/** The collectives of all ranks are joined by communicator, function, number and replay, never by position or time. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { narrow } from '../../src/base/columns.js';
import { lateSpans } from '../../src/cluster/late_spans.js';
import { joinCollectives } from '../../src/cluster/join.js';
import type { ClusterMember } from '../../src/cluster/collective_types.js';
import type { Collective } from '../../src/cluster/collective_view.js';
import type { TraceNs } from '../../src/base/time.js';
import type { WorkOutcome } from '../../src/model/work_end.js';
import type { WorkTable } from '../../src/model/work_table.js';
import { endTable, type MadeUpEnd } from '../support/made_up/end_table.js';

const COMM = 0xabcn;
const PLANS = ['RING/SIMPLE', 'TREE/SIMPLE'];

interface Row {
  readonly seq: number;
  readonly arrival: number;
  readonly lastOp?: number;
  readonly outcome?: WorkOutcome;
  readonly func?: string;
  readonly ordinal?: number;
  readonly enqueued?: number;
  readonly finalized?: number;
  /** When its GPU took its first step. */
  readonly begun?: number;
  /** When the newest data had come that its GPU took in this step. */
  readonly data?: number;
  readonly plan?: string;
  readonly kernel?: { readonly gpu: number; readonly noticed: number };
}

function member(
  rows: readonly Row[],
  clockOffset = 0,
  nRanks = 3,
  bareAt: number | null = null,
): ClusterMember {
  const funcs = [...new Set(rows.map(({ func = 'AllReduce' }) => func))];
  const works: WorkTable = {
    key: narrow(rows.map((_, row) => row)),
    group: narrow(rows.map(() => -1)),
    comm: narrow(rows.map(() => 7)),
    func: narrow(rows.map(({ func = 'AllReduce' }) => funcs.indexOf(func))),
    funcs,
    seq: narrow(rows.map(({ seq }) => seq)),
    peer: narrow(rows.map(() => -1)),
    ordinal: narrow(rows.map(({ ordinal = 0 }) => ordinal)),
    ordinalAbsolute: narrow(rows.map(() => 1)),
    count: narrow(rows.map(() => 1024)),
    datatype: narrow(rows.map(() => 0)),
    datatypes: ['ncclFloat32'],
    plan: narrow(rows.map(({ plan = 'RING/SIMPLE' }) => PLANS.indexOf(plan))),
    plans: PLANS,
    root: narrow(rows.map(() => -1)),
    arrival: narrow(rows.map(({ arrival }) => arrival)),
    channels: narrow(rows.map(() => 2)),
    enqueued: narrow(rows.map(({ enqueued, arrival }) => enqueued ?? arrival + 1)),
  };
  const ends = rows.map(({ outcome = 'complete', lastOp, finalized, kernel, begun, data }): MadeUpEnd => ({
    ...{ outcome, lastOp: lastOp ?? NaN, step: begun ?? NaN, data: data ?? NaN },
    ...(kernel && { firstStamp: 0, lastStamp: kernel.gpu, noticed: kernel.noticed }),
    finalized: finalized ?? undefined,
  }));
  return {
    communicators: [{ number: 7, commId: COMM, name: 'dp', rank: clockOffset, nRanks, nNodes: 0 }],
    works,
    ends: endTable(ends),
    time: (at) => (at + clockOffset) as TraceNs,
    gpuTime: () => (at) => (at + clockOffset) as TraceNs,
    calledWithoutWork: (_, from, to) => bareAt !== null && bareAt > from && bareAt < to,
    gpuError: () => ({ late: 0, early: 0 }),
  };
}

const joined = (members: readonly ClusterMember[]): readonly Collective[] =>
  joinCollectives(members).flatMap(({ collectives }) => collectives);

describe('a collective of three ranks', () => {
  it('begins with the first arrival and ends with the last completion, whatever each clock says', () => {
    const [one] = joined([
      member([{ seq: 0, arrival: 1000, lastOp: 1900 }], 0),
      member([{ seq: 0, arrival: 200, lastOp: 1100 }], 900),
      member([{ seq: 0, arrival: 5400, lastOp: 6000 }], -4000),
    ]);
    expect(one).toMatchObject({
      firstArrival: 1000,
      firstFile: 0,
      lastArrival: 1400,
      lastFile: 2,
      end: 2000,
      arrived: 3,
      open: [],
      absent: [],
    });
  });

  it('takes no end from kernel stamps of earlier work', () => {
    const kernel = { gpu: 3_000_000, noticed: 9_000_000 };
    const [one] = joined([member([{ seq: 0, arrival: 5_000_000, kernel }])]);
    expect(one!.end).toBe(9_000_000);
  });

  it('that a rank aborted ends with its communicator, and names the rank', () => {
    const [one] = joined([
      member([{ seq: 0, arrival: 1000, lastOp: 1900 }]),
      member([{ seq: 0, arrival: 1000, finalized: 5000, outcome: 'aborted' }]),
    ]);
    expect(one).toMatchObject({ aborted: [1], open: [], end: 5000 });
  });

  it("counts a kernel's end by the GPU's clock, but never later than it was noticed", () => {
    const kernel = (gpu: number) =>
      joined([member([{ seq: 0, arrival: 0, lastOp: 50, kernel: { gpu, noticed: 120 } }])])[0]!.end;
    expect(kernel(90)).toBe(90);
    expect(kernel(5000)).toBe(120);
    expect(kernel(10)).toBe(50);
  });

  it('that did not end on one rank is open there', () => {
    const [one] = joined([
      member([{ seq: 4, arrival: 1000, lastOp: 1900 }]),
      member([{ seq: 4, arrival: 1100, outcome: 'open' }]),
    ]);
    expect(one).toMatchObject({ open: [1], end: 1900 });
  });

  it('is the same only with the same function, number and replay', () => {
    const all = joined([
      member([
        { seq: 0, arrival: 0 },
        { seq: 0, arrival: 10, func: 'AllGather' },
        { seq: 0, arrival: 20, ordinal: 1 },
        { seq: 1, arrival: 30 },
      ]),
      member([{ seq: 0, arrival: 21, ordinal: 1 }]),
    ]);
    expect(all.map(({ func, seq, ordinal, arrived }) => [func, seq, ordinal, arrived])).toEqual([
      ['AllReduce', 0, 0, 1],
      ['AllGather', 0, 0, 1],
      ['AllReduce', 0, 1, 2],
      ['AllReduce', 1, 0, 1],
    ]);
  });
});

describe('late by itself', () => {
  // Two collectives. The second rank calls the second one late, and the third rank comes after it in the ring.
  const ranks = (bareAt: number | null): ClusterMember[] =>
    [1000, 90_000, 1000].map((called, rank) => {
      const begun = rank === 0 ? 1000 : rank === 1 ? 90_000 : 90_500;
      const rows = [
        { seq: 0, arrival: 0, lastOp: 500 },
        { seq: 1, arrival: called, begun, lastOp: 91_000 },
      ];
      return {
        ...member(rows, 0, 3, bareAt === null ? null : bareAt + called - 1000),
        communicators: [{ number: 7, commId: COMM, name: 'dp', rank, nRanks: 3, nNodes: 0 }],
      };
    });

  it('is the rank that called last, where another rank was last on the GPU only because it was held up before', () => {
    const [, one] = joined(ranks(900));
    expect(lateSpans(one!, 0).map(({ late, from, to }) => [late.rank, from, to])).toEqual([
      [1, 1000, 90_000],
      [2, 90_000, 90_500],
    ]);
  });

  it('is the rank whose GPU was last, if nothing held it up', () => {
    const [, one] = joined(ranks(null));
    expect(lateSpans(one!, 0).map(({ late, from, to }) => [late.rank, from, to])).toEqual([
      [2, 90_000, 90_500],
    ]);
  });
});

describe('a rank that never entered', () => {
  it('is reported for a rank that was recording before', () => {
    const [, second] = joined([
      member([
        { seq: 0, arrival: 0 },
        { seq: 1, arrival: 100, outcome: 'open' },
      ]),
      member([{ seq: 0, arrival: 5 }]),
    ]);
    expect(second).toMatchObject({ arrived: 1, open: [0], absent: [1] });
  });

  it('is not reported for a rank whose records begin later: a ring is a window', () => {
    const [first] = joined([
      member([
        { seq: 0, arrival: 0 },
        { seq: 1, arrival: 100 },
      ]),
      member([{ seq: 1, arrival: 105 }]),
    ]);
    expect(first).toMatchObject({ seq: 0, arrived: 1, absent: [] });
  });
});

describe('in a tree', () => {
  const ms = 1e6;
  const tree = (late: number, root: Partial<Row>): readonly Collective[] =>
    joined([
      member([row(0, 0, 0.1), { ...row(1, 20, 0), ...root }], 0),
      member([row(0, 0, 0.1), row(1, 20, 20.1)], 1),
      member([row(0, 0, 0.1), row(1, late, late + 0.1)], 2),
    ]);
  const row = (seq: number, called: number, begun: number): Row => ({
    ...{ seq, plan: 'TREE/SIMPLE', outcome: 'complete', lastOp: (seq === 0 ? 10 : 300) * ms },
    ...{ arrival: called * ms, begun: begun * ms },
  });

  it('the root only waits for the data of a late leaf, however long its GPU takes to see them', () => {
    const one = tree(100, { data: 100.2 * ms, begun: 101 * ms })[1]!;
    expect(one.lastFile).toBe(2);
    // Its host and its GPU.
    expect(lateSpans(one, 0).map(({ late, to }) => [late.rank, to])).toEqual([
      [2, 100 * ms + 2],
      [2, 100.1 * ms + 2],
    ]);
  });

  it('a root for which the data waited is late itself', () => {
    const one = tree(20, { data: 21 * ms, begun: 120 * ms })[1]!;
    expect(one.lastFile).toBe(0);
    expect(lateSpans(one, 0).map(({ late, from, to }) => [late.rank, from, to])).toEqual([
      [0, 21 * ms, 120 * ms],
    ]);
  });
});

it('communicators without an id are not joined', () => {
  const unknown = {
    ...member([{ seq: 0, arrival: 0 }]),
    communicators: [{ number: 7, commId: 0n, name: '', rank: 0, nRanks: 0, nNodes: 0 }],
  };
  expect(joinCollectives([unknown, unknown])).toEqual([]);
});

it('does not depend on the order of the files, but for their numbers', () => {
  const row = fc.record({
    seq: fc.nat(5),
    arrival: fc.nat(1000),
    lastOp: fc.integer({ min: 1000, max: 2000 }),
  });
  const rows = fc.uniqueArray(row, { selector: ({ seq }) => seq, maxLength: 6 });
  const order = (a: Collective, b: Collective) => a.seq - b.seq;
  fc.assert(
    fc.property(fc.array(rows, { minLength: 1, maxLength: 4 }), (files) => {
      const forth = [...joined(files.map((one) => member(one)))].sort(order);
      const back = [...joined([...files].reverse().map((one) => member(one)))].sort(order);
      const rename = (list: readonly number[]) => list.map((file) => files.length - 1 - file).sort();
      expect(
        back.map(({ absent, arrived, end, firstArrival, lastArrival }) => [
          rename(absent),
          arrived,
          end,
          firstArrival,
          lastArrival,
        ]),
      ).toEqual(
        forth.map(({ absent, arrived, end, firstArrival, lastArrival }) => [
          [...absent].sort(),
          arrived,
          end,
          firstArrival,
          lastArrival,
        ]),
      );
    }),
  );
});
