/** From made-up evidence to a verdict: what it says, and above all what it does not. */

import { describe, expect, it } from 'vitest';
import { Wait } from '../../src/model/waits.js';
import { judge } from '../../src/verdict/judge.js';
import type { Hang, Slowness, Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, s, waitingFor, type MadeUpRank } from './evidence.js';

/** `waiting` as files alone. */
function hangOf(verdict: Verdict): Omit<Hang, 'waiting'> & { readonly waiting: readonly number[] } {
  if (verdict.kind !== 'hung') throw new Error(`not hung but ${verdict.kind}`);
  return { ...verdict.hang, waiting: verdict.hang.waiting.map(({ file }) => file) };
}

function slownessOf(verdict: Verdict): Slowness {
  if (verdict.kind !== 'slow') throw new Error(`not slow but ${verdict.kind}`);
  return verdict.slow;
}

describe('a hang', () => {
  it('names the rank that never entered although rings are full: it called less, so its window reaches further back', () => {
    const left = (first: number) => [0, 1, 2].map((i) => done(first + i, 10 + first + i));
    const others: MadeUpRank = { calls: [...left(5), open(8, 18)], knownFrom: 14.5 };
    const behind: MadeUpRank = { calls: [done(4, 14), ...left(5)], knownFrom: 13.5 };
    const hang = hangOf(judge(evidence([others, behind, others])));
    expect(hang).toMatchObject({ seq: 8, neverEntered: [{ file: 1, newest: { seq: 7 } }], notKnown: [] });
    // Whose newest call came later in the order may have made this one before what is left of it.
    const ahead: MadeUpRank = { calls: [done(4, 14), open(9, 18.05)], knownFrom: 13.5 };
    const both: MadeUpRank = { ...others, calls: [...others.calls, open(9, 18.1)] };
    expect(hangOf(judge(evidence([both, ahead, both])))).toMatchObject({ neverEntered: [], notKnown: [1] });
  });

  it('names the ranks that never entered and those that wait, since when, and where to look', () => {
    const hang = hangOf(
      judge(
        evidence([
          { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(2)] })] },
          { calls: [done(0, 1), open(1, 11, { ops: [waitingFor(0, { done: 4 })] })] },
          { calls: [done(0, 1)] },
        ]),
      ),
    );
    expect(hang).toMatchObject({
      commId: '0x0000000000000001',
      comm: 'world',
      func: 'AllReduce',
      seq: 1,
      since: s(11),
      age: s(89),
      neverEntered: [{ file: 2, stuckIn: null }],
      waiting: [0, 1],
      notKnown: [],
      missing: [],
      silent: [],
      front: { file: 0, peerFile: 2, peerInComm: 2, isSend: false, done: 0, record: '0:7' },
      waits: [['recv wait', 2]],
    });
  });

  it('says what a rank entered instead, measured against most of the ranks', () => {
    const instead = open(0, 9, { func: 'AllGather', ops: [waitingFor(1)] });
    const hang = hangOf(
      judge(
        evidence([
          { calls: [done(0, 1), instead] },
          { calls: [done(0, 1), open(1, 10)] },
          { calls: [done(0, 1), open(1, 10)] },
        ]),
      ),
    );
    expect(hang).toMatchObject({ func: 'AllReduce', seq: 1, waiting: [1, 2] });
    expect(hang.neverEntered).toMatchObject([
      { file: 0, stuckIn: { func: 'AllGather', seq: 0, comm: 'world', front: { file: 0, peerFile: 1 } } },
    ]);
  });

  it('names ranks that entered with another count', () => {
    const hang = hangOf(
      judge(
        evidence([{ calls: [done(0, 1), open(1, 10)] }, { calls: [done(0, 1), open(1, 10, { count: 99 })] }]),
      ),
    );
    expect(hang).toMatchObject({ different: [1], neverEntered: [], waiting: [0, 1] });
  });

  it('names ranks that made a call that others left out, even if all went on', () => {
    const reduced = { func: 'ReduceScatter' };
    const hang = hangOf(
      judge(
        evidence([
          { calls: [done(0, 1), open(1, 10)] },
          { calls: [done(0, 1), done(0, 9, reduced), open(1, 10.1)] },
          { calls: [done(0, 1), open(1, 10)] },
        ]),
      ),
    );
    expect(hang).toMatchObject({ func: 'AllReduce', seq: 1, waiting: [0, 1, 2], different: [1] });
    expect(hang.mismatch).toMatchObject({
      what: 'calls',
      ways: [
        { func: 'AllReduce', seq: 1, entered: [{ file: 0 }, { file: 2 }] },
        { func: 'ReduceScatter', seq: 0, entered: [{ file: 1, record: '0:1', at: s(9) }] },
      ],
    });
  });

  it('compares such a call with the one made in its place, not with the newest', () => {
    const others = { calls: [0, 1, 2, 3, 4, 5].map((seq) => done(seq, 10 + seq)) };
    // In the place of seq 2 another one; all later numbers are those of the call before.
    const one = {
      calls: [
        done(0, 10),
        done(1, 11),
        done(0, 12, { func: 'ReduceScatter' }),
        ...[2, 3, 4].map((seq) => done(seq, 11 + seq)),
      ],
    };
    expect(judge(evidence([others, one, others], { end: 15.5 }))).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        what: 'calls',
        ways: [
          { func: 'AllReduce', seq: 2, entered: [{ file: 0, at: s(12) }, { file: 2 }] },
          { func: 'ReduceScatter', seq: 0, entered: [{ file: 1, at: s(12) }] },
        ],
      },
    });
  });

  it('compares roots, too; without a hang the verdict is only that calls differ', () => {
    const call = (root: number) => done(0, 5, { func: 'Broadcast', root });
    const verdict = judge(
      evidence([{ calls: [call(0)] }, { calls: [call(1)] }, { calls: [call(0)] }], { end: 6 }),
    );
    expect(verdict).toMatchObject({
      kind: 'mismatch',
      mismatch: {
        what: 'arguments',
        ways: [
          { root: 0, entered: [{ file: 0 }, { file: 2 }] },
          { root: 1, entered: [{ file: 1 }] },
        ],
      },
    });
  });

  it('lasts until its own files end: others were copied later', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2, 3] }, tp: { id: 2n, members: [0, 1] } };
    const early = {
      calls: [done(0, 1), done(0, 1.1, { comm: 'tp' }), open(1, 9.9, { comm: 'tp' })],
      alive: 10,
    };
    const late = { calls: [done(0, 1)] };
    const judged = (end: number) => judge(evidence([early, early, late, late], { comms, end }));
    expect(judged(25).kind).toBe('working');
    // Those do nothing for long.
    expect(judged(90)).toMatchObject({ kind: 'unclear', unclear: { idle: { files: [2, 3] } } });
  });

  it('names the collective in which the others wait, not the one in which a rank died and the others finished', () => {
    const dead = { calls: [done(0, 1), open(1, 10), open(2, 10.1)], alive: 10.2 };
    const others = [done(0, 1), done(1, 10), open(2, 10.1, { ops: [waitingFor(1)] })];
    const verdict = judge(evidence([{ calls: others }, dead, { calls: others }], { end: 13 }));
    expect(hangOf(verdict)).toMatchObject({
      seq: 2,
      age: s(13) - s(10.1),
      silent: [{ file: 1 }],
      front: { peerFile: 1 },
    });
    // Killed before it could enter that one.
    const earlier = { ...dead, calls: dead.calls.slice(0, 2), alive: 10 };
    const sooner = judge(evidence([{ calls: others }, earlier, { calls: others }], { end: 13 }));
    expect(hangOf(sooner)).toMatchObject({ seq: 2, silent: [{ file: 1 }] });
  });

  it('is not reported for a file that was copied in a collective, long before the others', () => {
    const early = { calls: [done(0, 1), open(1, 10)], alive: 10.2 };
    const others = { calls: [done(0, 1), done(1, 10), done(2, 20), open(3, 30)] };
    expect(judge(evidence([early, others, others], { end: 33 }))).toMatchObject({
      kind: 'waiting',
      waiting: { stall: { seq: 3, silent: [{ file: 0, mayBeCopy: true }] } },
    });
  });

  it('counts the ranks without a file, and looks at connections to them', () => {
    const hang = hangOf(
      judge(
        evidence(
          [
            { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(1, { done: 3 })] })] },
            { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(0)] })] },
          ],
          { comms: { world: { id: 1n, members: [0, null, 1, null] } } },
        ),
      ),
    );
    expect(hang).toMatchObject({ missing: [1, 3], waiting: [0, 1], neverEntered: [] });
    expect(hang.front).toMatchObject({ file: 0, peerInComm: 1, peerFile: null, done: 3 });
  });

  it('calls a recorder silent only if it did not close its file and was not alive when it was read', () => {
    const calls = [done(0, 1), open(1, 10)];
    const hang = hangOf(
      judge(
        evidence([
          { calls },
          { calls, alive: 12 },
          { calls, alive: 12, closed: true },
          { calls, alive: 12, isAlive: true },
        ]),
      ),
    );
    expect(hang.silent).toEqual([{ file: 1, lastSign: s(12), mayBeCopy: false }]);
    expect(hang.neverEntered).toEqual([]);
  });

  it('is the stall whose missing ranks are not stuck in another one', () => {
    const comms = {
      world: { id: 1n, members: [0, 1, 2, 3] },
      tp: { id: 2n, members: [2, 3] },
    };
    const inTp = open(0, 10, { comm: 'tp' });
    const hang = hangOf(
      judge(
        evidence(
          [
            { calls: [done(0, 1), open(1, 9)] },
            { calls: [done(0, 1), open(1, 9)] },
            { calls: [done(0, 1), done(9, 2, { comm: 'tp' }), inTp] },
            { calls: [done(0, 1), done(9, 2, { comm: 'tp' })] },
          ],
          { comms },
        ),
      ),
    );
    expect(hang).toMatchObject({ comm: 'tp', waiting: [2], neverEntered: [{ file: 3, stuckIn: null }] });
    expect(hang.alsoHung).toMatchObject([{ comm: 'world', func: 'AllReduce', seq: 1 }]);
  });

  it('is the stall that ranks in both began first, if both miss the same rank', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2, 3] }, tp: { id: 2n, members: [2, 3] } };
    const before = [done(0, 1), done(9, 2, { comm: 'tp' })];
    const hang = hangOf(
      judge(
        evidence(
          [
            { calls: [done(0, 1), open(1, 8)] },
            { calls: [done(0, 1), open(1, 8)] },
            { calls: [...before, open(10, 9, { comm: 'tp' }), open(1, 9.1)] },
            { calls: before },
          ],
          { comms },
        ),
      ),
    );
    expect(hang).toMatchObject({
      comm: 'tp',
      neverEntered: [{ file: 3 }],
      alsoHung: [{ comm: 'world', onlyWaits: true }],
    });
  });

  it('that was aborted lasts until its communicator was finalized', () => {
    const aborted = open(1, 10, { finalized: 40 });
    const hang = hangOf(
      judge(evidence([{ calls: [done(0, 1), aborted] }, { calls: [done(0, 1), aborted] }])),
    );
    expect(hang).toMatchObject({ age: s(30), aborted: [0, 1], waiting: [0, 1] });
  });

  it('without a recorded completion is recognised by the ranks that never entered', () => {
    const calls = [done(0, 1, { noEnd: true }), done(1, 10, { noEnd: true })];
    const verdict = judge(evidence([{ calls }, { calls: calls.slice(0, 1) }]));
    expect(hangOf(verdict)).toMatchObject({ seq: 1, waiting: [], neverEntered: [{ file: 1 }] });
    expect(verdict.endsNotKnown).toBe(3);
  });

  it('in a receive names the other side if that has nothing unfinished', () => {
    const recv = { func: 'Recv', seq: null, peer: 1, at: 10, end: null, ops: [waitingFor(1)] };
    const past = { func: 'Send', seq: null, peer: 0, at: 1, end: 1.5 };
    const received = { ...recv, at: 1, end: 1.5 };
    const hang = hangOf(judge(evidence([{ calls: [received, recv] }, { calls: [past] }])));
    expect(hang).toMatchObject({ func: 'Recv', seq: null, waiting: [0], neverEntered: [{ file: 1 }] });
  });

  it('in a receive is the cause of the stall, and its other side is not missing if it sent', () => {
    const recv = { func: 'Recv', seq: null, peer: 1, at: 10, end: null, ops: [waitingFor(1)] };
    const sent = { func: 'Send', seq: null, peer: 0, at: 10, end: 10.1 };
    const next = open(0, 11, { ops: [waitingFor(0, { done: 3 })] });
    const hang = hangOf(judge(evidence([{ calls: [recv, next] }, { calls: [sent, next] }])));
    expect(hang).toMatchObject({
      func: 'Recv',
      neverEntered: [],
      front: { file: 0, peerFile: 1 },
      alsoHung: [{ func: 'AllReduce', onlyWaits: true }],
    });
  });

  it('in a receive names the rank that went on to the next collective without sending', () => {
    const recv = { func: 'Recv', seq: null, peer: 1, at: 10, end: null, ops: [waitingFor(1)] };
    const behind = { isSend: true, wait: { step: 0, name: Wait.Gpu, since: s(11) } };
    const queued = open(0, 11, { ops: [waitingFor(1, behind)] });
    const next = open(0, 11, { ops: [waitingFor(0)] });
    const ranks = [
      { calls: [recv, queued] },
      { calls: [next] },
      { calls: [open(0, 11, { ops: [waitingFor(0)] })] },
    ];
    expect(hangOf(judge(evidence(ranks)))).toMatchObject({
      func: 'Recv',
      neverEntered: [{ file: 1, stuckIn: { func: 'AllReduce' } }],
      alsoHung: [{ func: 'AllReduce', onlyWaits: true }],
    });
    // The same, in another communicator than the collective's.
    const comms = { pair: { id: 2n, members: [0, 1] }, world: { id: 1n, members: [0, 1, 2] } };
    const onPair = [{ calls: [{ ...recv, comm: 'pair' }, queued] }, ...ranks.slice(1)];
    expect(hangOf(judge(evidence(onPair, { comms })))).toMatchObject({
      comm: 'pair',
      func: 'Recv',
      neverEntered: [{ file: 1 }],
    });
  });

  it('in a communicator without an id covers only its own file', () => {
    const comms = { world: { id: 0n, members: [0, 1] } };
    const hang = hangOf(judge(evidence([{ calls: [open(3, 10)] }, { calls: [done(2, 9)] }], { comms })));
    expect(hang).toMatchObject({ commId: null, waiting: [0], neverEntered: [], missing: [] });
  });
});

describe('not a hang:', () => {
  const working: readonly (readonly [string, number, readonly MadeUpRank[]])[] = [
    ['a live copy in mid-work', 10.4, [{ calls: [done(0, 1), open(1, 10)] }, { calls: [done(0, 1)] }]],
    [
      'a stall no longer than what went well before',
      20,
      [
        { calls: [done(0, 0.5), { seq: 1, at: 1, end: 12 }, open(2, 13)] },
        { calls: [done(0, 0.5), { seq: 1, at: 1, end: 12 }, open(2, 13)] },
      ],
    ],
    ['a receive posted early', 14, [{ calls: [{ func: 'Recv', seq: null, peer: 1, at: 10, end: null }] }]],
  ];
  it.each(working)('%s', (_, end, ranks) => {
    expect(judge(evidence(ranks, { end }))).toMatchObject({ kind: 'working', working: { end: s(end) } });
  });
});

describe('a rank is never said not to have entered:', () => {
  const others: readonly MadeUpRank[] = [
    { calls: [done(0, 1), open(1, 10)] },
    { calls: [done(0, 1), open(1, 10)] },
  ];
  const cases: readonly (readonly [string, MadeUpRank])[] = [
    ['a rank whose ring begins later', { calls: [open(2, 12)], knownFrom: 11 }],
    ['a rank that lost records after it', { calls: [done(0, 1)], knownFrom: 50 }],
    ['a rank that may have come before the others, and lost that', { calls: [done(2, 9.5)], knownFrom: 9 }],
    ['a rank whose recording ended before', { calls: [done(0, 1)], alive: 9 }],
    ['a rank whose rings were copied before', { calls: [done(0, 1)], knownUntil: 9 }],
  ];
  it.each(cases)('%s', (_, rank) => {
    const hang = hangOf(judge(evidence([...others, rank])));
    expect(hang).toMatchObject({ seq: 1, neverEntered: [], notKnown: [2] });
  });

  it('except if it never called anything and lost nothing', () => {
    const hang = hangOf(judge(evidence([...others, { calls: [] }])));
    expect(hang).toMatchObject({ neverEntered: [{ file: 2, newest: null }], notKnown: [] });
  });

  it('except if it closed its file and exited', () => {
    const hang = hangOf(judge(evidence([...others, { calls: [done(0, 1)], alive: 9, closed: true }])));
    expect(hang).toMatchObject({ neverEntered: [{ file: 2 }], notKnown: [] });
  });
});

describe('calls that differ', () => {
  const calls = (count: number, end = 6): MadeUpRank => ({
    calls: [done(0, 1), done(1, 2, { count }), { ...done(2, 5), noEnd: true }],
    alive: end,
  });

  it('come before a silent rank, which is named beside them: they may be the reason', () => {
    const live = { ...calls(1), isAlive: true } as const;
    const verdict = judge(evidence([live, live, calls(2, 3)], { end: 6 }));
    expect(verdict).toMatchObject({
      kind: 'mismatch',
      mismatch: { ways: [{ count: 1 }, { count: 2, entered: [{ file: 2 }] }] },
      besides: { kind: 'unclear', unclear: { silent: [{ file: 2 }] } },
    });
  });

  it('come before a stall elsewhere that may go on, and the verdict says so', () => {
    const comms = { world: { id: 1n, members: [0, 1] }, tp: { id: 2n, members: [0, 1] } };
    const waits = (count: number): MadeUpRank => ({
      calls: [done(0, 1), done(1, 2, { count }), done(0, 3, { comm: 'tp' }), open(1, 4, { comm: 'tp' })],
    });
    expect(judge(evidence([waits(1), waits(2)], { comms, end: 12 }))).toMatchObject({
      kind: 'mismatch',
      besides: { kind: 'waiting', waiting: { stall: { comm: 'tp' } } },
    });
  });

  it('are the only problem if all work ended', () => {
    expect(judge(evidence([calls(1), calls(2)], { end: 6 }))).toMatchObject({
      kind: 'mismatch',
      besides: { kind: 'healthy' },
    });
  });
});

describe('slow', () => {
  /** `turn`: late in each third collective alone, beginning with that one. */
  const late = (by: number, turn?: number): MadeUpRank => ({
    calls: Array.from({ length: 10 }, (_, seq) => ({
      seq,
      at: seq + (turn === undefined || seq % 3 === turn ? by : 0),
      end: seq + Math.max(by, 0.2) + 0.1,
    })),
    closed: true,
  });

  it('is the rank that all others wait for', () => {
    const slow = slownessOf(judge(evidence([late(0), late(0.3), late(0.01)])));
    expect(slow).toMatchObject({ comm: 'world', file: 1, late: 9, of: 9 });
    expect(slow.cost / 1e9).toBeCloseTo(9 * 0.29);
  });

  it('is reported if NCCL does not report the number of ranks, and none is missing', () => {
    const ranks = [late(0), late(0.3), late(0.01)];
    expect(slownessOf(judge(evidence(ranks, { unknownSize: true })))).toMatchObject({
      file: 1,
      late: 9,
      of: 9,
    });
    expect(judge(evidence(ranks, { unknownSize: true, missing: true })).kind).toBe('healthy');
  });

  it('is no rank if the cost is small, or if it is not always the same rank', () => {
    expect(judge(evidence([late(0), late(0.05)])).kind).toBe('healthy');
    expect(judge(evidence([late(0.3, 0), late(0.3, 1), late(0.3, 2)])).kind).toBe('healthy');
  });

  it('is no rank on clocks with an unknown error, and the verdict says so', () => {
    const verdict = judge(evidence([late(0), late(0.3)], { comparable: false }));
    expect(verdict).toMatchObject({ kind: 'healthy', lateness: false });
  });

  it('is no rank that came last only because its own earlier work ended last', () => {
    const calls = (by: number) =>
      Array.from({ length: 10 }, (_, seq) => ({ seq, at: seq + by, end: seq + 1 + by }));
    expect(judge(evidence([{ calls: calls(0) }, { calls: calls(0.5) }], { end: 12 })).kind).toBe('healthy');
  });

  it('counts overlapping waits once', () => {
    const calls = (by: number) =>
      Array.from({ length: 20 }, (_, i) => ({ seq: i, at: (i >> 1) + by, end: (i >> 1) + 0.8 }));
    const slow = slownessOf(judge(evidence([{ calls: calls(0) }, { calls: calls(0.5) }], { end: 20 })));
    expect(slow.late).toBe(19);
    expect(slow.cost / 1e9).toBeCloseTo(5);
  });

  it('is no rank in a Broadcast: nobody waits for its last rank', () => {
    const rooted = ({ calls, ...rank }: MadeUpRank): MadeUpRank => ({
      ...rank,
      calls: calls.map((call) => ({ ...call, func: 'Broadcast', root: 0 })),
    });
    expect(judge(evidence([rooted(late(0)), rooted(late(0.3))])).kind).toBe('healthy');
  });

  it('is no rank if the clocks cannot resolve its lateness, and the verdict says so', () => {
    const ranks = [late(0), late(0.3), late(0.01)];
    const verdict = judge(evidence(ranks, { clockBound: 0.16 }));
    expect(verdict).toMatchObject({ kind: 'healthy', unresolved: { file: 1, clockBound: s(0) } });
    const resolved = slownessOf(judge(evidence(ranks, { clockBound: 0.02 })));
    expect(resolved).toMatchObject({ file: 1, late: 9, clockBound: s(0.04) });
    expect(resolved.cost / 1e9).toBeCloseTo(9 * (0.29 - 0.04));
  });

  /** Of `count` collectives these last 3 s because the rank comes late; the others 0.1 s. */
  const lateAt = (places: readonly number[], count: number, by = 3): MadeUpRank => {
    let begin = 0;
    const calls = Array.from({ length: count }, (_, seq) => {
      const at = begin + (places.includes(seq) ? by : 0);
      begin += places.includes(seq) ? 3.1 : 0.1;
      return { seq, at, end: begin };
    });
    return { calls, closed: true };
  };
  const judged = (places: readonly number[], count: number, ranks = 4) =>
    judge(
      evidence([lateAt(places, count), ...Array.from({ length: ranks - 1 }, () => lateAt(places, count, 0))]),
    );

  it('is a rank that took most of the time in few waits, and their number is told', () => {
    expect(slownessOf(judged([5, 15, 25, 35], 40))).toMatchObject({
      file: 0,
      waits: 4,
      late: 4,
      course: 'always',
    });
  });

  it('or else it is unclear whether it is: one or two waits are no habit, and half of the time is not healthy', () => {
    for (const [places, course] of [
      [[15], 'once'],
      [[5, 15], 'always'],
    ] as const)
      expect(judged(places, 20, 8)).toMatchObject({
        kind: 'unclear',
        unclear: { late: { file: 0, waits: places.length, course, why: 'chance' } },
      });
  });

  /** One rank comes `by` s late to the collectives at `places` of 25; each takes 0.1 s more and is `gap` s after the one before. */
  const latest = (places: readonly number[], by: number, gap: number): Verdict => {
    const rank = (isLate: boolean): MadeUpRank => {
      let end = 0;
      const calls = Array.from({ length: 25 }, (_, seq) => {
        const begin = end + gap;
        const wait = places.includes(seq) ? by : 0;
        end = begin + wait + gap / 10;
        return { seq, at: begin + (isLate ? wait : 0), end };
      });
      return { calls, closed: true };
    };
    return judge(evidence([rank(true), rank(false), rank(false), rank(false)]));
  };

  it('and a third of the time in four waits is unclear, too, but not a tenth', () => {
    const places = [3, 9, 15, 21];
    expect(latest(places, 3, 1)).toMatchObject({ kind: 'unclear', unclear: { late: { file: 0 } } });
    expect(latest(places, 1, 1)).toMatchObject({ kind: 'healthy', latest: { file: 0, why: 'chance' } });
  });

  it('is no rank that was held up once: waits within 20 ms have one cause', () => {
    const places = [10, 11, 12, 13, 14, 15];
    expect(latest(places, 0.002, 0.001)).toMatchObject({
      kind: 'healthy',
      latest: { file: 0, why: 'chance' },
    });
    expect(latest(places, 5, 2).kind).toBe('slow');
  });

  it('says since when, until when, or between which times', () => {
    const from = (first: number, last: number) => Array.from({ length: last - first }, (_, i) => first + i);
    expect(slownessOf(judged(from(30, 40), 40)).course).toBe('since');
    expect(slownessOf(judged(from(1, 11), 40)).course).toBe('until');
    expect(slownessOf(judged(from(15, 25), 40)).course).toBe('between');
  });

  it('is reported for a job that still works, too', () => {
    const still = ({ calls }: MadeUpRank): MadeUpRank => ({ calls: [...calls, open(10, 10.5)] });
    const verdict = judge(evidence([still(late(0)), still(late(0)), still(late(0.3))], { end: 10.6 }));
    expect(slownessOf(verdict)).toMatchObject({ file: 2 });
  });
});

it('a run that ended is healthy', () => {
  const calls = [done(0, 1), done(1, 2)];
  const closed = { calls, closed: true } as const;
  expect(judge(evidence([closed, closed]))).toEqual({
    kind: 'healthy',
    silent: [],
    states: ['ended', 'ended'],
    damaged: [],
    lostEntries: 0,
    unknownComms: { works: 0, files: [] },
    endsNotKnown: 0,
    partial: [],
    sampled: [],
    muted: [],
    notRecorded: [],
    seen: { communicators: 1, collectives: 2, works: 4 },
    lateness: true,
    unresolved: null,
    latest: null,
  });
});

it('a run without collectives has nothing to judge', () => {
  expect(judge(evidence([{ calls: [] }, { calls: [] }])).kind).toBe('nothing');
});

describe('damaged files', () => {
  const calls = [done(0, 1), done(1, 2)];

  it('are not called healthy, and a short stall in them is not called working', () => {
    expect(judge(evidence([{ calls }, { calls, damaged: true }]))).toMatchObject({
      kind: 'unclear',
      unclear: { work: null },
      damaged: [1],
    });
    const briefly = [...calls, open(2, 99.9)];
    expect(judge(evidence([{ calls: briefly }, { calls: briefly }])).kind).toBe('working');
    expect(judge(evidence([{ calls: briefly }, { calls: briefly, damaged: true }])).kind).toBe('unclear');
  });
});
