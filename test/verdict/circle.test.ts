/** Sends and receives that wait for each other in a circle, because of the order in which they were called. */

import type { PendingOp } from '../../src/model/pending.js';
import { describe, expect, it } from 'vitest';
import { Wait } from '../../src/model/waits.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import { evidence, open, waitingFor, type MadeUpCall, type MadeUpRank } from './evidence.js';
import { report } from './report.js';

type How = Partial<MadeUpCall>;

/** One after the other, each in a group of its own if nothing else is said. */
const calls = (...list: readonly [func: 'Send' | 'Recv', peer: number, how?: How][]): MadeUpRank => ({
  calls: list.map(([func, peer, how], i) => {
    const name = func === 'Send' ? Wait.Peer : Wait.Recv;
    const wait = i === 0 ? { step: 0, name, since: 10 as never } : null;
    const ops: PendingOp[] = [waitingFor(peer, { isSend: func === 'Send', wait })];
    return open(0, 10 + i / 100, { func, seq: null, peer, group: i, ops, ...how });
  }),
});

const judged = (...ranks: readonly MadeUpRank[]) => judge(evidence(ranks));

const circleOf = (...ranks: readonly MadeUpRank[]): readonly number[] => {
  const verdict = judged(...ranks);
  return verdict.kind === 'hung' ? verdict.hang.circle.map(({ file }) => file) : [];
};

describe('a circle of sends and receives', () => {
  it('is seen if two ranks receive first, and both are named', () => {
    const verdict = judged(calls(['Recv', 1], ['Send', 1]), calls(['Recv', 0], ['Send', 0]));
    expect(verdictText(report(verdict, 2), [{ command: 'next' }]).slice(0, 7)).toEqual([
      'HUNG  Recv/Send on world (2 ranks): look at rank 0 or 1',
      '  stuck:          since 03:00:10 UTC (90.0 s)',
      '  in a circle:    rank 0: Recv from 1, then Send to 1',
      '                  rank 1: Recv from 0, then Send to 0',
      '  not finished:   2 ranks (0-1)',
      '  operations:     2 no step in flight, 2 recv wait',
      '  look at:        rank 0 ch 0 recv from 1, step 0 of 12 in recv wait',
    ]);
    expect(verdict).toMatchObject({
      hang: { different: [], front: { file: 0, isSend: false, done: 0 } },
    });
    expect(suspects(verdict).slice(0, 2)).toEqual([0, 1]);
  });

  it('is seen if two ranks send first, and the receivers have no room', () => {
    expect(circleOf(calls(['Send', 1], ['Recv', 1]), calls(['Send', 0], ['Recv', 0]))).toEqual([0, 1]);
  });

  it('is seen among some of the ranks', () => {
    const waits = calls(['Recv', 1], ['Send', 1]);
    const circle = [calls(['Recv', 2], ['Send', 3], ['Send', 0]), calls(['Recv', 3], ['Send', 1])];
    expect(circleOf(waits, ...circle, calls(['Recv', 1], ['Send', 2]))).toEqual([1, 2, 3]);
  });
});

describe('two circles on one communicator', () => {
  it('are two causes, also if a rank of one has a later send to a rank of the other', () => {
    const first = [calls(['Recv', 1], ['Send', 1], ['Send', 2]), calls(['Recv', 0], ['Send', 0])];
    const second = [calls(['Recv', 3], ['Send', 3]), calls(['Recv', 2], ['Send', 2])];
    const circles = judged(...first, ...second).findings.flatMap(({ about, because, who }) =>
      about.kind === 'hung' && about.hang.circle.length > 0
        ? [{ because, files: who.files, missing: about.hang.neverEntered }]
        : [],
    );
    expect(circles).toEqual([
      { because: null, files: [0, 1], missing: [] },
      { because: null, files: [2, 3], missing: [] },
    ]);
  });
});

describe('there is no circle', () => {
  const crossed = calls(['Recv', 1], ['Send', 1]);

  it('if the calls are in one group', () => {
    expect(circleOf(crossed, calls(['Recv', 0, { group: 7 }], ['Send', 0, { group: 7 }]))).toEqual([]);
  });

  it('if the groups are not known', () => {
    const group = undefined as never;
    expect(circleOf(crossed, calls(['Recv', 0, { group }], ['Send', 0, { group }]))).toEqual([]);
  });

  it('if a GPU has begun the later call', () => {
    const ops = [waitingFor(0, { isSend: true, done: 1 })];
    expect(circleOf(crossed, calls(['Recv', 0], ['Send', 0, { ops }]))).toEqual([]);
  });

  it('if data came: then the GPU hangs, and the later calls belong to other data', () => {
    const ops = [waitingFor(0, { wait: { step: 0, name: Wait.Gpu, since: 10 as never } })];
    expect(circleOf(crossed, calls(['Recv', 0, { ops }], ['Send', 0]))).toEqual([]);
  });

  it('if the first ranks wait for a rank that never sends', () => {
    expect(circleOf(calls(['Recv', 1], ['Send', 1]), calls(['Recv', 2], ['Send', 0]), { calls: [] })).toEqual(
      [],
    );
  });
});
