/** BROKEN OFF: a rank disappeared, and the others left or finished its collective at about the same time. And files that are only older than the others. */

import { describe, expect, it } from 'vitest';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import type { Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, s, waitingFor, type MadeUpCall, type MadeUpRank } from './evidence.js';

const closed = { closed: true } as const;
const aborted: MadeUpRank = {
  calls: [done(0, 1), open(1, 10, { finalized: 10.3, ops: [waitingFor(1)] })],
  alive: 10.3,
  ...closed,
};
const killed: MadeUpRank = { calls: [done(0, 1), open(1, 10, { ops: [waitingFor(0)] })], alive: 10.1 };
const after = (ranks: readonly MadeUpRank[]): Verdict => judge(evidence(ranks, { end: 10.3 }));

describe('a rank that disappeared', () => {
  it('in a collective that the others aborted at once: it broke off', () => {
    expect(after([aborted, killed, aborted])).toMatchObject({
      kind: 'broken',
      broken: {
        gone: [{ file: 1, lastSign: s(10.1) }],
        left: [0, 2],
        finished: [],
        stall: {
          seq: 1,
          waiting: [{ file: 0 }, { file: 1 }, { file: 2 }],
          aborted: [0, 2],
          front: { peerFile: 1 },
        },
      },
    });
  });

  it('in a collective that the others left without finalizing', () => {
    const left: MadeUpRank = { calls: [done(0, 1), open(1, 10)], alive: 10.3, ...closed };
    expect(after([left, killed, left])).toMatchObject({
      kind: 'broken',
      broken: { gone: [{ file: 1 }], left: [0, 2] },
    });
  });

  it('before it entered the collective that the others aborted', () => {
    const before = { calls: [done(0, 1)], alive: 9.9 };
    expect(after([aborted, before, aborted])).toMatchObject({
      kind: 'broken',
      broken: { gone: [{ file: 1 }] },
    });
  });

  it('of which only the last sign is known: its rings were elsewhere, and copied before', () => {
    const comms = { world: { id: 1n, members: [0, null, 2] } };
    const nothing = { calls: [], alive: 10.1, knownUntil: 0 };
    const verdict = judge(evidence([aborted, nothing, aborted], { end: 10.3, comms }));
    expect(verdict).toMatchObject({ kind: 'broken', broken: { gone: [{ file: 1 }], left: [0, 2] } });
    // All ranks of the communicator have files that know it, so that file is none of its ranks.
    const whole = { world: { id: 1n, members: [0, 2] } };
    expect(judge(evidence([aborted, nothing, aborted], { end: 10.3, comms: whole }))).toMatchObject({
      kind: 'broken',
      broken: { gone: [], left: [0, 2] },
    });
  });

  it('is not named if all ranks ended in order in mid-collective: the job ended itself', () => {
    expect(after([aborted, aborted, aborted])).toMatchObject({
      kind: 'broken',
      broken: { gone: [], left: [0, 1, 2], finished: [] },
    });
  });

  it('in a send or receive', () => {
    const call = { func: 'Recv', seq: null, at: 10, end: null };
    const left: MadeUpRank = { calls: [{ ...call, peer: 1 }], alive: 10.3, ...closed };
    const gone: MadeUpRank = { calls: [{ ...call, func: 'Send', peer: 0 }], alive: 10.1 };
    const idle: MadeUpRank = { calls: [], alive: 10.1 };
    expect(after([left, gone, idle])).toMatchObject({
      kind: 'broken',
      broken: { gone: [{ file: 1 }], left: [0] },
    });
    // The other side had not even called.
    expect(after([left, idle, idle])).toMatchObject({ kind: 'broken', broken: { gone: [{ file: 1 }] } });
  });

  it('together with all others, if their processes are certainly gone', () => {
    const gone = { ...killed, isGone: true } as const;
    expect(after([gone, gone, gone])).toMatchObject({
      kind: 'broken',
      broken: { gone: [{ file: 0 }, { file: 1 }, { file: 2 }], left: [], finished: [], isOrderKnown: false },
    });
    // However long they had waited in it.
    const waited = { ...gone, alive: 20 } as const;
    const ended = judge(evidence([waited, { ...waited, calls: [done(0, 1)] }], { end: 20 }));
    expect(ended).toMatchObject({ kind: 'broken', broken: { gone: [{ file: 0 }, { file: 1 }] } });
    expect(suspects(ended)[0]).toBe(1);
    expect(judge(evidence([waited, { ...killed, alive: 20 }], { end: 20 })).kind).toBe('waiting');
    // One may be alive.
    expect(after([gone, killed, gone]).kind).toBe('working');
    const finished = { calls: [done(0, 1), done(1, 10)], alive: 10.1, isGone: true } as const;
    expect(after([finished, finished, finished]).kind).toBe('healthy');
    // A rank that had finished moved after the other was gone.
    const moved = { calls: [done(0, 1), done(1, 10, { end: 10.2 })], alive: 10.2, isGone: true } as const;
    expect(after([gone, moved])).toMatchObject({
      kind: 'broken',
      broken: { stall: { since: s(10.2), age: 0 } },
    });
  });

  it('even if a rank was slow before, if the job had stood still before it ended', () => {
    const rank = (late: number, waits: number): MadeUpRank => ({
      calls: [
        ...Array.from({ length: 40 }, (_, i) => done(i, 1 + i / 10 + late, { end: 1 + i / 10 + 0.05 })),
        ...(late > 0 ? [] : [open(40, 5)]),
      ],
      alive: 5 + waits,
      isGone: true,
    });
    const ended = (waits: number) =>
      judge(evidence([rank(0, waits), rank(0, waits), rank(0.04, waits)], { end: 5 + waits }));
    expect(ended(0.01)).toMatchObject({ kind: 'slow', slow: { file: 2 } });
    expect(ended(12)).toMatchObject({ kind: 'broken', broken: { stall: { age: s(12) } } });
    expect(suspects(ended(12))[0]).toBe(2);
  });

  it('in a collective that the others finished, if its file is certainly no earlier copy', () => {
    const finished: MadeUpRank = { calls: [done(0, 1), done(1, 10)], alive: 10.3, ...closed };
    expect(after([finished, { ...killed, isNoEarlierCopy: true }, finished])).toMatchObject({
      kind: 'broken',
      broken: { gone: [{ file: 1 }], left: [], finished: [0, 2], stall: { waiting: [{ file: 1 }] } },
    });
    expect(after([finished, killed, finished])).toMatchObject({
      kind: 'unclear',
      unclear: {
        work: { func: 'AllReduce', seq: 1, file: 1 },
        files: [1],
        silent: [{ file: 1, lastSign: s(10.1), mayBeCopy: true }],
      },
    });
  });

  it('disappeared first if the others ended when its heartbeat was overdue', () => {
    // Who was first is not known: a rank that raised an error, after which the others were killed, looks the same.
    const near = after([aborted, killed, aborted]);
    expect(near).toMatchObject({ kind: 'broken', broken: { isOrderKnown: false } });
    expect(suspects(near)).toEqual([1, 0, 2]);
    expect(suspects(after([aborted, killed, killed, killed])).slice(0, 4)).toEqual([0, 1, 2, 3]);
    const calls = [done(0, 1), open(1, 10.4, { finalized: 11.3 })];
    const later: MadeUpRank = { calls, alive: 11.3, ...closed };
    const before: MadeUpRank = { calls: [done(0, 1)], alive: 9.5 };
    const far = judge(evidence([later, before, later], { end: 11.3 }));
    expect(far).toMatchObject({ kind: 'broken', broken: { isOrderKnown: true } });
    expect(suspects(far)).not.toContain(0);
    const bounded = judge(evidence([later, before, later], { end: 11.3, clockBound: 0.2 }));
    expect(bounded).toMatchObject({ kind: 'broken', broken: { isOrderKnown: false } });
  });

  it('in a collective that the others finished after its last sign: it was stuck until they ended', () => {
    const finished: MadeUpRank = { calls: [done(0, 1), done(1, 10.2)], alive: 10.3, ...closed };
    const verdict = after([finished, { ...killed, isNoEarlierCopy: true }, finished]);
    expect(verdict).toMatchObject({
      kind: 'broken',
      broken: { stall: { since: s(10.21), until: s(10.3) } },
    });
    expect(verdict.kind === 'broken' && verdict.broken.stall.age).toBeCloseTo(s(0.09), -3);
  });

  it('is also named if it left nothing unfinished', () => {
    const calls = [done(0, 1)];
    expect(
      after([
        { calls, alive: 10.3, ...closed },
        { calls, alive: 9 },
      ]),
    ).toMatchObject({
      kind: 'healthy',
      silent: [{ file: 1, lastSign: s(9) }],
    });
  });

  it('is named in a hang that the others left soon after', () => {
    const later = { ...aborted, calls: [done(0, 1), open(1, 10, { finalized: 11.2 })], alive: 11.2 };
    expect(judge(evidence([later, killed, later], { end: 11.2 }))).toMatchObject({
      kind: 'hung',
      hang: { silent: [{ file: 1, mayBeCopy: false }] },
    });
  });
});

describe('a run is not called broken off', () => {
  it.each([
    ['and were closed in the end', 4000],
    ['and were closed soon', 104],
  ])('where the others finished more long after the file was copied, %s', (_, end) => {
    const broadcasts = (until: number): MadeUpCall[] =>
      Array.from({ length: until }, (__, seq) => done(seq, seq, { func: 'Broadcast', root: 0 }));
    const root: MadeUpRank = { calls: broadcasts(end), alive: end, ...closed };
    const begun = open(100, 100, { func: 'Broadcast', root: 0, ops: [waitingFor(0)] });
    const copied: MadeUpRank = { calls: [...broadcasts(100), begun], alive: 101 };
    expect(judge(evidence([root, copied, root], { end })).kind).not.toBe('broken');
  });

  const calls: readonly MadeUpCall[] = [done(0, 1), open(1, 10)];

  it.each<readonly [string, readonly MadeUpRank[]]>([
    [
      'where all were killed while they worked',
      [
        { calls, alive: 10.1 },
        { calls, alive: 10.3 },
        { calls, alive: 10.2 },
      ],
    ],
    ['where one left first, and the others were killed then', [{ ...aborted, alive: 10.05 }, killed, killed]],
    ['while the other still lives, or will close', [aborted, { ...killed, isAlive: true }, aborted]],
    [
      'where the end of the collective that they left may be lost',
      [{ ...aborted, calls: [done(0, 1), open(1, 10, { lostSince: 3 })] }, killed],
    ],
    [
      // Rank 1 executes the sends of rank 0. Its file was copied before they were finished.
      'where sends are unfinished only by the file of another process that executes them',
      [
        {
          calls: [done(0, 1), open(1, 10, { ops: [waitingFor(2, { isSend: true, executor: 1 })] })],
          alive: 10.3,
          ...closed,
        },
        { calls: [done(0, 1)], alive: 10.1 },
        { calls: [done(0, 1), done(1, 10)], alive: 10.3, ...closed },
      ],
    ],
  ])('%s', (_, ranks) => {
    expect(after(ranks).kind).not.toBe('broken');
  });

  it('on unrelated clocks', () => {
    expect(judge(evidence([aborted, killed], { end: 10.3, comparable: false })).kind).toBe('working');
    // Nor on clocks that may be wrong by more than the time between the last signs.
    expect(judge(evidence([aborted, killed], { end: 10.3, clockBound: 0.2 })).kind).toBe('working');
  });
});

describe('a file that is only older', () => {
  /** A collective each half second, up to `until`. At 20 s one is open. */
  const working = (until: number): MadeUpRank => {
    const before = Array.from({ length: 40 }, (_, i) => done(i, i / 2)).filter(
      ({ at }) => at + 0.01 <= until,
    );
    return { calls: until < 20 ? before : [...before, open(40, 20)], alive: until };
  };
  const silent = (verdict: Verdict) => (verdict.kind === 'working' ? verdict.working.silent : verdict);
  const judged = (ranks: readonly MadeUpRank[], more = {}) => judge(evidence(ranks, { end: 20.2, ...more }));

  it('does not make its rank silent: the others have since finished a collective that needs it', () => {
    expect(silent(judged([working(5.1), working(12.1), working(20.2)]))).toEqual([]);
  });

  it('does not make its rank silent either if its rings are elsewhere and the others finished two collectives', () => {
    const elsewhere = { ...working(5.1), calls: working(3).calls, knownUntil: 3.1 };
    expect(silent(judged([elsewhere, working(20.2), working(20.2)]))).toEqual([]);
    // It may have done its part in one collective before.
    const late = { calls: working(17).calls, knownUntil: 17.1, alive: 18.6 };
    const one = { calls: [...working(19.2).calls, open(39, 19.8)], alive: 20.2 };
    expect(silent(judged([late, one, one]))).toMatchObject([{ file: 0, mayBeCopy: true }]);
    expect(silent(judged([late, working(20.2), working(20.2)]))).toEqual([]);
  });

  it('makes its rank silent where nothing shows that the file is older', () => {
    const unknown = judged([working(5.1), working(20.2)], { comparable: false });
    expect(silent(unknown)).toEqual([]);
    const sent = {
      ...working(20.2),
      calls: working(20.2).calls.map((call) => ({ ...call, onlySent: true as const })),
    };
    expect(silent(judged([working(5.1), sent]))).toMatchObject([{ file: 0, mayBeCopy: true }]);
    const wrong = judged([working(5.1), working(20.2)], { clockBound: 10 });
    expect(silent(wrong)).toMatchObject([{ file: 0, mayBeCopy: true }]);
  });
});
