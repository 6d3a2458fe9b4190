/** When a stall becomes an alarm: not while all ranks are alive and the stall is no longer than the job's own pauses allow. */

import { describe, expect, it } from 'vitest';
import { suspectsOf } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import type { Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, s, waitingFor, type MadeUpCall, type MadeUpRank } from './evidence.js';

/** Three ranks; rank 2 has not come to the collective that begins at 10 s. */
const stalled = (...before: readonly MadeUpCall[]): MadeUpRank[] => {
  const waits: MadeUpRank = { calls: [...before, open(9, 10, { ops: [waitingFor(2)] })] };
  return [waits, waits, { calls: before }];
};
const verdictAt = (
  end: number,
  ranks: readonly MadeUpRank[],
  more: { readonly hungAfter?: number } = {},
): Verdict => judge(evidence(ranks, { end, ...more }));

describe('a silent rank of which it is not known whether it has the communicator', () => {
  const waits: MadeUpRank = { calls: [done(0, 1), open(1, 10)], isAlive: true };
  const frozen: MadeUpRank = { calls: [], alive: 9, knownUntil: 0 };
  const judged = (comms: Readonly<Record<string, { id: bigint; members: (number | null)[] }>>, end = 14) =>
    judge(evidence([waits, frozen, waits], { comms, end }));
  const named = { kind: 'hung', hang: { silent: [{ file: 1, lastSign: s(9) }] } };

  it('makes a hang at once: the communicator was made after the newest copy of its rings', () => {
    expect(judged({ world: { id: 1n, members: [0, null, 2] } })).toMatchObject(named);
  });

  it('makes a hang at once: NCCL did not report which communicator it is', () => {
    expect(judged({ world: { id: 0n, members: [0, 2] } })).toMatchObject(named);
  });

  it('makes none: the ranks of the communicator are others', () => {
    expect(judged({ world: { id: 1n, members: [0, 2] } }).kind).toBe('waiting');
  });
});

describe('while all ranks are alive, the verdict', () => {
  it('is WAITING until the stall is old, and already has the evidence of a hang', () => {
    const verdict = verdictAt(39.9, stalled(done(0, 1), done(1, 2)));
    expect(verdict).toMatchObject({
      kind: 'waiting',
      waiting: {
        hungAfter: s(30),
        isLive: false,
        stall: { seq: 9, since: s(10), neverEntered: [{ file: 2 }], waiting: [{ file: 0 }, { file: 1 }] },
      },
    });
    expect(verdictAt(40, stalled(done(0, 1), done(1, 2))).kind).toBe('hung');
  });

  it('is WAITING while the first collective of all starts up', () => {
    const all = [{ calls: [open(0, 1)] }, { calls: [open(0, 2)] }, { calls: [open(0, 4)] }];
    expect(verdictAt(20, all).kind).toBe('waiting');
    expect(verdictAt(34, all).kind).toBe('hung');
  });

  it('is WAITING for twice as long as the longest earlier collective, except the first', () => {
    const long = { seq: 1, at: 2, end: 9.5 };
    expect(verdictAt(39.9, stalled(done(0, 1), long)).kind).toBe('waiting');
    expect(verdictAt(40, stalled(done(0, 1), long)).kind).toBe('hung');
    const longer = (by: number): MadeUpRank[] => {
      const calls = [done(0, 1), { seq: 1, at: 2, end: 42 }, open(2, 50)];
      return [
        { calls, alive: 50 + by },
        { calls: calls.slice(0, 2), alive: 50 + by },
      ];
    };
    expect(verdictAt(129, longer(79)).kind).toBe('waiting');
    expect(verdictAt(131, longer(81)).kind).toBe('hung');
  });

  it('is WAITING for twice as long as its communicator paused before, for a checkpoint', () => {
    const run = (age: number): Verdict => {
      const before = [done(0, 1), done(1, 2), done(2, 102), done(3, 103)];
      const all = [...before, open(4, 200)];
      return verdictAt(200 + age, [{ calls: all }, { calls: before }]);
    };
    expect(run(199).kind).toBe('waiting');
    expect(run(200.1).kind).toBe('hung');
  });

  it('advises another look only if the files themselves are alive', () => {
    const live = stalled(done(0, 1)).map((rank): MadeUpRank => ({ ...rank, isAlive: true }));
    expect(verdictAt(20, live)).toMatchObject({ kind: 'waiting', waiting: { isLive: true } });
  });

  it('does not take a file that was read earlier than the others for a process that disappeared', () => {
    const [first, ...rest] = stalled(done(0, 1));
    expect(verdictAt(20, [{ ...first!, alive: 14, isAlive: true }, ...rest]).kind).toBe('waiting');
  });

  it('is a hang after the time that --hung-after sets', () => {
    const ranks = stalled(done(0, 1));
    expect(verdictAt(12, ranks, { hungAfter: 2 }).kind).toBe('hung');
    expect(verdictAt(11.9, ranks, { hungAfter: 2 }).kind).toBe('waiting');
    expect(verdictAt(100, ranks, { hungAfter: 600 })).toMatchObject({
      kind: 'waiting',
      waiting: { hungAfter: s(600) },
    });
  });

  it('names a hang elsewhere before this stall', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2] }, tp: { id: 2n, members: [0, 1] } };
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    const inTp = open(4, 3, { comm: 'tp' });
    const verdict = judge(
      evidence([{ calls: [...a.calls, inTp] }, { calls: [...b.calls, inTp] }, c], { end: 36, comms }),
    );
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { comm: 'tp' },
      findings: [{}, { where: { comm: 'world' } }],
    });
  });

  it('does not call it a hang if the missing ranks began something a moment ago', () => {
    const comms = { world: { id: 1n, members: [0, 1, 2] }, tp: { id: 2n, members: [1, 2] } };
    const before = [done(0, 1), done(1, 2, { comm: 'tp' })];
    const inTp = open(2, 55, { comm: 'tp' });
    const ranks = [
      { calls: [done(0, 1), open(1, 10)] },
      { calls: [...before, inTp] },
      { calls: [...before, inTp] },
    ];
    expect(judge(evidence(ranks, { end: 60, comms }))).toMatchObject({
      kind: 'waiting',
      waiting: { stall: { comm: 'tp' } },
      findings: [{}, { where: { comm: 'world' }, because: 0 }],
    });
  });
});

describe('the longest earlier pause', () => {
  const slow = { seq: 1, at: 1, end: 13 };
  const before = [done(0, 0.5), slow];
  const calls = [...before, open(2, 20)];

  it('is not waited for if a rank disappeared', () => {
    const other: MadeUpRank = { calls, isAlive: true };
    expect(verdictAt(25, [other, other, { calls: before, alive: 20.5 }]).kind).toBe('hung');
    expect(verdictAt(25, [other, other, { calls: before, closed: true }]).kind).toBe('hung');
    expect(verdictAt(25, [other, other, { calls: before, isAlive: true }]).kind).toBe('working');
  });

  it('is not waited for if --hung-after is set', () => {
    expect(verdictAt(25, [{ calls }, { calls }], { hungAfter: 5 }).kind).toBe('hung');
    expect(verdictAt(24.9, [{ calls }, { calls }], { hungAfter: 5 }).kind).toBe('waiting');
  });

  it('is not a pause of the hang itself, into which more was enqueued', () => {
    const hung = [done(0, 1), done(1, 2), open(2, 10), open(3, 600)];
    expect(verdictAt(640, [{ calls: hung }, { calls: hung }]).kind).toBe('hung');
    const noEnd = hung.map((call): MadeUpCall => (call.end === null ? { ...call, noEnd: true } : call));
    const late = { calls: [done(0, 1), done(1, 2)] };
    expect(verdictAt(640, [{ calls: noEnd }, { calls: noEnd }, late]).kind).toBe('hung');
  });

  it('is not the pause after the first collective, when a job compiles', () => {
    const compiled = [done(0, 1), done(1, 301), done(2, 302), open(3, 303)];
    expect(verdictAt(332, [{ calls: compiled }, { calls: compiled }]).kind).toBe('waiting');
    expect(verdictAt(334, [{ calls: compiled }, { calls: compiled }]).kind).toBe('hung');
  });
});

describe('a stall that cannot go on is a hang at once:', () => {
  const short = 12;

  it('a rank fell silent, while the others were alive when they were read', () => {
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    const dead = { ...c, alive: 15 };
    const live = { isAlive: true } as const;
    expect(verdictAt(18, [{ ...a, ...live }, { ...b, ...live }, dead])).toMatchObject({
      kind: 'hung',
      hang: { silent: [{ file: 2, mayBeCopy: false }] },
    });
  });

  it('a rank fell silent before a copy that states its time', () => {
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    expect(verdictAt(18, [a, b, { ...c, alive: 15, isNoEarlierCopy: true }]).kind).toBe('hung');
  });

  it('but not if its file may have been copied before the others', () => {
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    expect(verdictAt(18, [a, b, { ...c, alive: 15 }])).toMatchObject({
      kind: 'waiting',
      waiting: { stall: { silent: [{ file: 2, mayBeCopy: true }] } },
    });
    // The last sign comes when the stall begins, or long before the others' last sign.
    expect(verdictAt(18, [a, b, { ...c, alive: 10.2 }]).kind).toBe('hung');
    expect(verdictAt(46, [a, b, { ...c, alive: 15 }], { hungAfter: 600 }).kind).toBe('hung');
  });

  it('but not if its clock is not related to the others', () => {
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    const silent = [a, b, { ...c, alive: 10.2 }];
    expect(judge(evidence(silent, { end: short, comparable: false }))).toMatchObject({
      kind: 'waiting',
      waiting: { stall: { silent: [], isRelated: false } },
    });
  });

  it('a rank closed its file', () => {
    const [a, b, c] = stalled(done(0, 1)) as [MadeUpRank, MadeUpRank, MadeUpRank];
    expect(verdictAt(short, [a, b, { ...c, closed: true }]).kind).toBe('hung');
  });

  it('a rank ended in order in the middle of it: that rank is named first, unless most ranks left', () => {
    const inIt = (peer: number, alive?: number): MadeUpRank => ({
      calls: [done(0, 1), open(1, 10, { ops: [waitingFor(peer)] })],
      ...(alive === undefined ? {} : { closed: true, alive }),
    });
    const verdict = verdictAt(20, [inIt(2), inIt(0), inIt(1, 11)]);
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { ended: [{ file: 2, at: s(11) }], front: { file: 0, peerFile: 2 } },
    });
    expect(suspectsOf(verdict)[0]).toEqual({ file: 2, label: 'GONE' });
    // Ended long after the stall began, as a watchdog does it; or most ranks ended.
    for (const ranks of [
      [inIt(2), inIt(0), inIt(1, 14)],
      [inIt(2), inIt(0, 11), inIt(1, 11)],
    ])
      expect(verdictAt(20, ranks)).toMatchObject({ kind: 'hung', hang: { ended: [] } });
  });

  it('its communicator was aborted', () => {
    const aborted = open(1, 10, { finalized: 12 });
    const calls = [done(0, 1), aborted];
    expect(verdictAt(short, [{ calls }, { calls }]).kind).toBe('hung');
  });

  it('the ranks made different calls', () => {
    const calls = (count: number): MadeUpRank => ({ calls: [done(0, 1), open(1, 10, { count })] });
    expect(verdictAt(short, [calls(1), calls(2)]).kind).toBe('hung');
  });
});

describe('if records are lost', () => {
  const lost = open(1, 10, { lostSince: 12 });
  const closed = (...calls: readonly MadeUpCall[]): MadeUpRank => ({
    calls: [done(0, 1), ...calls],
    closed: true,
  });

  it('cannot distinguish a hang from a lost end, and says so', () => {
    const verdict = judge(evidence([closed(lost), closed(lost), closed(done(1, 10))]));
    expect(verdict).toMatchObject({
      kind: 'unclear',
      unclear: {
        work: { func: 'AllReduce', seq: 1, file: 0, record: '0:7' },
        works: 2,
        files: [0, 1],
        lost: 12,
      },
    });
  });

  it('does not say so of a job that is still recorded and moves: it works', () => {
    expect(judge(evidence([{ calls: [done(0, 1), lost] }], { end: 10.1 })).kind).toBe('working');
  });

  it('says so of a short stall, too: a file that was closed in order does not go on', () => {
    expect(judge(evidence([closed(lost)], { end: 10.1 })).kind).toBe('unclear');
  });

  it('does not take the end of its communicator for an abort', () => {
    const destroyed = closed({ ...lost, finalized: 40 });
    expect(judge(evidence([destroyed, destroyed, closed(done(1, 10))])).kind).toBe('unclear');
    const aborted = { ...open(1, 10), finalized: 40 };
    expect(judge(evidence([destroyed, closed(aborted)]))).toMatchObject({
      kind: 'hung',
      hang: { aborted: [1], notKnown: [], mayHaveFinished: [0] },
    });
  });

  it('says it is a hang if another rank proves it, and says "not finished" only of that rank', () => {
    const verdict = judge(evidence([closed(lost), { calls: [done(0, 1), open(1, 10)] }]));
    expect(verdict).toMatchObject({
      kind: 'hung',
      hang: { waiting: [{ file: 1 }], notKnown: [], mayHaveFinished: [0] },
    });
  });

  it('says it is a hang if a rank never entered or disappeared', () => {
    expect(judge(evidence([closed(lost), { calls: [done(0, 1)] }])).kind).toBe('hung');
    const gone = { calls: [done(0, 1), lost], alive: 11 };
    expect(judge(evidence([{ calls: [done(0, 1), lost] }, gone])).kind).toBe('hung');
  });
});

it('makes no claim about the time after the last copy of the rings', () => {
  const copied = { calls: [done(0, 1), done(1, 2), open(2, 10)], knownUntil: 10.2 };
  expect(verdictAt(11.2, [copied, copied], { hungAfter: 1 }).kind).toBe('working');
});

it('says that a hang cannot be excluded before it names a slow rank', () => {
  const calls = (late: number): MadeUpCall[] =>
    Array.from({ length: 9 }, (_, seq) => ({ seq, at: seq + late, end: seq + 0.5 }));
  const closed = (late: number): MadeUpRank => ({
    calls: [...calls(late), open(9, 10, { lostSince: 3 })],
    closed: true,
  });
  expect(judge(evidence([closed(0), closed(0), closed(0.4)])).kind).toBe('unclear');
});
