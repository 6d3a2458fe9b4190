/** From made-up evidence to a verdict: what it claims, and above all what it does not claim. */

import { describe, expect, it } from 'vitest';
import { Wait } from '../../src/model/waits.js';
import { judge } from '../../src/verdict/judge.js';
import type { Finding, Hang, Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, s, waitingFor, type MadeUpCall, type MadeUpRank } from './evidence.js';

/** `waiting` as files alone; `also`: what else was found. */
function hangOf(
  verdict: Verdict,
): Omit<Hang, 'waiting'> & { readonly waiting: readonly number[]; readonly also: readonly Finding[] } {
  if (verdict.kind !== 'hung') throw new Error(`not hung but ${verdict.kind}`);
  return {
    ...verdict.hang,
    waiting: verdict.hang.waiting.map(({ file }) => file),
    also: verdict.findings.slice(1),
  };
}

describe('a hang', () => {
  it('names the rank that never entered although rings are full: it called less, so its window reaches further back', () => {
    const left = (first: number) => [0, 1, 2].map((i) => done(first + i, 10 + first + i));
    const others: MadeUpRank = { calls: [...left(5), open(8, 18)], knownFrom: 14.5 };
    const behind: MadeUpRank = { calls: [done(4, 14), ...left(5)], knownFrom: 13.5 };
    const hang = hangOf(judge(evidence([others, behind, others])));
    expect(hang).toMatchObject({ seq: 8, neverEntered: [{ file: 1, newest: { seq: 7 } }], notKnown: [] });
    // A rank whose newest call comes later in the order may have made this call before its window begins.
    const ahead: MadeUpRank = { calls: [done(4, 14), open(9, 18.05)], knownFrom: 13.5 };
    const both: MadeUpRank = { ...others, calls: [...others.calls, open(9, 18.1)] };
    expect(hangOf(judge(evidence([both, ahead, both])))).toMatchObject({ neverEntered: [], notKnown: [1] });
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

  it('names ranks that entered with another count, and nobody if there are as many of each', () => {
    const [usual, other] = [open(1, 10), open(1, 10, { count: 99 })];
    const among = (...calls: readonly MadeUpCall[]) =>
      hangOf(judge(evidence(calls.map((call) => ({ calls: [done(0, 1), call] })))));
    expect(among(usual, other, usual)).toMatchObject({
      different: [1],
      neverEntered: [],
      waiting: [0, 1, 2],
    });
    expect(among(usual, other)).toMatchObject({ different: [], neverEntered: [], waiting: [0, 1] });
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
    // The later files show ranks that do nothing for long.
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
    expect(hang.silent).toEqual([
      { file: 1, lastSign: s(12), mayBeCopy: false, isGone: false, isStopped: false },
    ]);
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
    expect(hang.also).toMatchObject([{ where: { comm: 'world', func: 'AllReduce', seq: 1 } }]);
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
      also: [{ where: { comm: 'world' }, because: 0 }],
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
      also: [{ where: { func: 'AllReduce' }, because: 0 }],
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
      also: [{ where: { func: 'AllReduce' }, because: 0 }],
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
    });
    expect(verdict.findings[1]!.about).toMatchObject({ kind: 'unclear', unclear: { silent: [{ file: 2 }] } });
  });

  it('come before a stall elsewhere that may go on, and the verdict says so', () => {
    const comms = { world: { id: 1n, members: [0, 1] }, tp: { id: 2n, members: [0, 1] } };
    const waits = (count: number): MadeUpRank => ({
      calls: [done(0, 1), done(1, 2, { count }), done(0, 3, { comm: 'tp' }), open(1, 4, { comm: 'tp' })],
    });
    expect(judge(evidence([waits(1), waits(2)], { comms, end: 12 }))).toMatchObject({
      kind: 'mismatch',
      findings: [{ kind: 'mismatch' }, { about: { kind: 'waiting', waiting: { stall: { comm: 'tp' } } } }],
    });
  });

  it('are not reported for ranks that are only behind, each by another number of calls', () => {
    const until = (newest: number): MadeUpRank => ({
      calls: [done(0, 1), ...[1, 2].slice(0, newest).map((seq) => open(seq, 9 + seq))],
    });
    const hang = hangOf(judge(evidence([until(2), until(1), until(0)])));
    expect(hang).toMatchObject({ mismatch: null, different: [], neverEntered: [{ file: 2 }] });
  });

  it.each([
    ['', {}],
    [', also where NCCL does not report how many there are', { unknownSize: true }],
  ] as const)('is past when all ranks have finished a later call: no reason of a hang%s', (_, how) => {
    const rank = (count: number, ...later: MadeUpCall[]): MadeUpRank => ({
      calls: [done(0, 1), { ...done(1, 5), count }, done(2, 10), ...later],
    });
    const verdict = judge(evidence([rank(1, open(3, 15)), rank(1, open(3, 15)), rank(2)], how));
    expect(hangOf(verdict)).toMatchObject({ mismatch: null, different: [], neverEntered: [{ file: 2 }] });
    expect(verdict.findings.map(({ rule }) => rule)).toEqual(['stuck', 'different calls']);
  });

  it('are the only problem if all work ended', () => {
    expect(judge(evidence([calls(1), calls(2)], { end: 6 }))).toMatchObject({
      kind: 'mismatch',
      findings: [{ kind: 'mismatch' }, { about: { kind: 'working', working: { isUnfinished: false } } }],
    });
  });
});

it('a run that ended is healthy', () => {
  const calls = [done(0, 1), done(1, 2)];
  const closed = { calls, closed: true } as const;
  expect(judge(evidence([closed, closed]))).toEqual({
    kind: 'healthy',
    silent: [],
    findings: [],
    states: ['ended', 'ended'],
    damaged: [],
    lostEntries: 0,
    unknownComms: { works: 0, files: [] },
    endsNotKnown: 0,
    endsToSelf: 0,
    partial: [],
    sampled: [],
    muted: [],
    notRecorded: [],
    seen: { communicators: 1, collectives: 2, works: 4 },
    lateness: true,
    unresolved: null,
    latest: null,
    compared: 1,
    knownBugs: [],
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
