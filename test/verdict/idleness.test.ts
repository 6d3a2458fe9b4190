/** Nothing is pending and nothing moves: a job that ended is healthy, a job that merely records nothing is not. */

import { describe, expect, it } from 'vitest';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { judge } from '../../src/verdict/judge.js';
import type { Unclear, Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, s, type MadeUpCall, type MadeUpRank } from './evidence.js';

const calls = [done(0, 1), done(1, 2), done(2, 3)];
const sampled = { calls, sampleEvery: 100 } as const;
const unclearOf = (verdict: Verdict): Unclear => {
  if (verdict.kind !== 'unclear') throw new Error(`not unclear but ${verdict.kind}`);
  return verdict.unclear;
};
const at = (end: number, ranks: readonly MadeUpRank[], more: { readonly hungAfter?: number } = {}): Verdict =>
  judge(evidence(ranks, { end, ...more }));

describe('live ranks that do nothing', () => {
  it('are not healthy if that lasts much longer than any earlier pause', () => {
    const three = [sampled, sampled, sampled];
    expect(at(33, three).kind).toBe('healthy');
    const { idle, silent } = unclearOf(at(33.1, three));
    expect(idle).toMatchObject({ since: s(3.01), files: [0, 1, 2], ended: [], behind: [] });
    expect(idle!.age / 1e9).toBeCloseTo(30.09);
    expect(silent).toEqual([]);
    const slower = { ...sampled, longestQuiet: 40 };
    expect(at(83, [sampled, slower]).kind).toBe('healthy');
    expect(unclearOf(at(83.1, [sampled, slower])).idle).toMatchObject({ longestBefore: s(40) });
  });

  it('may pause for longer if older records are lost', () => {
    const wrapped = { ...sampled, watched: 599 };
    expect(at(303, [wrapped, wrapped]).kind).toBe('healthy');
    expect(unclearOf(at(303.1, [wrapped, wrapped])).idle).toMatchObject({ isPaceWhole: false });
    // Known for long enough to have seen its pauses, or all pauses of another rank are known.
    expect(at(33.1, [{ ...wrapped, watched: 600 }, wrapped]).kind).toBe('unclear');
    expect(unclearOf(at(33.1, [sampled, wrapped])).idle).toMatchObject({ isPaceWhole: false });
    expect(unclearOf(at(33.1, [sampled, sampled])).idle).toMatchObject({ isPaceWhole: true });
    expect(at(99, [wrapped, wrapped], { hungAfter: 5 }).kind).toBe('unclear');
  });

  it('are not healthy either if each collective is recorded: they are in no call that NCCL reports', () => {
    expect(unclearOf(at(40, [{ calls }, { calls }])).idle).toMatchObject({ files: [0, 1] });
  });

  it('are reported instead of a slow rank', () => {
    const late = (by: number): MadeUpRank => ({
      calls: Array.from({ length: 10 }, (_, seq): MadeUpCall => ({ seq, at: seq + by, end: seq + 0.5 })),
    });
    const ranks = [late(0), late(0), late(0.3)];
    expect(at(20, ranks).kind).toBe('slow');
    expect(at(60, ranks)).toMatchObject({ kind: 'unclear', unclear: { late: null } });
  });

  it('hang if others work for minutes without a call that they made', () => {
    const asked = [0, 1, 2].map((at) => ({ func: 'Broadcast', at }));
    const busy = (end: number): MadeUpCall[] =>
      Array.from({ length: end }, (_, seq) => ({ comm: 'own', seq, at: seq, end: seq + 0.5 }));
    const seen = (end: number): Verdict => {
      const works = { calls: busy(end), asked: asked.slice(0, 2) };
      const ranks = [{ calls: [], asked }, { calls: [], asked }, works, works];
      const comms = {
        world: { id: 7n, members: [0, 1, 2, 3] },
        own: { id: 8n, members: [null, null, 2, 3] },
      };
      return judge(evidence(ranks, { end, comms }));
    };
    expect(unclearOf(seen(40)).idle).toMatchObject({ isPart: true, files: [0, 1] });
    expect(suspects(seen(40))).toEqual([2, 3]);
    expect(seen(301).kind).toBe('unclear');
    const verdict = seen(303);
    expect(verdict).toMatchObject({ kind: 'hung', hang: { func: 'Broadcast', since: s(2) } });
    expect(suspects(verdict).slice(0, 2)).toEqual([2, 3]);
  });

  it('are judged by --hung-after if it is set', () => {
    expect(at(9, [sampled, sampled], { hungAfter: 5 }).kind).toBe('unclear');
    expect(at(99, [sampled, sampled], { hungAfter: 600 }).kind).toBe('healthy');
  });

  it('are each judged by their own clock', () => {
    const verdict = judge(evidence([{ ...sampled, alive: 90 }, sampled], { end: 100, comparable: false }));
    expect(unclearOf(verdict).idle!.age / 1e9).toBeCloseTo(86.99);
  });

  it('include a rank that never called anything; a job that has not begun is not judged', () => {
    expect(unclearOf(at(100, [sampled, { calls: [] }])).idle).toMatchObject({ files: [0, 1] });
    expect(at(100, [{ calls: [] }, { calls: [] }]).kind).toBe('nothing');
  });

  it('do not include a rank whose calls are no longer recorded', () => {
    const off: MadeUpRank = { ...sampled, hasNoCallsNow: true };
    expect(at(100, [off, off]).kind).toBe('healthy');
    expect(unclearOf(at(100, [off, sampled])).idle).toMatchObject({ files: [1] });
  });

  it('a call without further events counts as recorded', () => {
    const asked = (last: number): MadeUpRank => ({ calls: [], asked: [{ at: 1 }, { at: last }] });
    expect(unclearOf(at(100, [asked(2), asked(2)])).idle).toMatchObject({ since: s(2) });
    expect(at(100, [asked(80), asked(80)]).kind).toBe('nothing');
  });
});

describe('healthy stays', () => {
  const finalized = [...calls.slice(0, -1), done(2, 3, { finalized: 4 })];
  it.each<readonly [string, readonly MadeUpRank[]]>([
    [
      'a job that ended, however late',
      [
        { ...sampled, closed: true },
        { ...sampled, closed: true },
      ],
    ],
    [
      'one whose communicators were destroyed',
      [
        { ...sampled, calls: finalized },
        { ...sampled, calls: finalized },
      ],
    ],
    [
      'one that was killed while it worked',
      [
        { ...sampled, alive: 3.5 },
        { ...sampled, alive: 4 },
      ],
    ],
    ['one of which a rank works on', [sampled, { ...sampled, calls: [...calls, done(300, 80)] }]],
    [
      'one whose rings were last copied long before',
      [
        { ...sampled, knownUntil: 20 },
        { ...sampled, knownUntil: 20 },
      ],
    ],
  ])('%s', (_, ranks) => {
    expect(at(100, ranks).kind).toBe('healthy');
  });
});

describe('a rank that called less than the others', () => {
  const asked = (count: number): MadeUpRank => ({
    ...sampled,
    asked: Array.from({ length: count }, (_, i) => ({ at: 1 + i, func: 'AllGather' })),
  });

  it('is named, with the call that it should make next', () => {
    expect(unclearOf(at(100, [asked(5), asked(4), asked(5)])).idle!.behind).toEqual([
      {
        ahead: [0, 2],
        newest: s(5),
        commId: '0x0000000000000001',
        comm: 'world',
        by: 1,
        files: [1],
        callers: [{ file: 1 }],
        nRanks: 3,
        file: 0,
        record: '0:4',
        at: s(5),
        func: 'AllGather',
        count: 1024,
        datatype: 'ncclFloat32',
        root: null,
      },
    ]);
  });

  it('is not named if its records end before, or if not all of its calls are known', () => {
    const ahead = { ...sampled, asked: [...asked(5).asked!, { at: 60 }] };
    const behind = (rank: MadeUpRank) =>
      unclearOf(at(100, [ahead, rank, ahead])).idle!.behind.map(({ files }) => files);
    expect(behind({ ...asked(5), knownUntil: 65 })).toEqual([[1]]);
    expect(behind({ ...asked(5), knownUntil: 64.9 })).toEqual([]);
    expect(behind(sampled)).toEqual([]);
    expect(behind(ahead)).toEqual([]);
  });

  it('is the first suspect, before a silent rank', () => {
    const verdict = at(100, [asked(5), asked(4), { ...asked(5), alive: 20 }, { ...asked(5), isAlive: true }]);
    expect(suspects(verdict)).toEqual([1, 2]);
  });

  it('is waited for: the pause need not be long, only longer than before', () => {
    const kinds = (end: number, more: Partial<MadeUpRank> = {}) =>
      at(end, [{ ...asked(5), ...more }, asked(4), asked(5)]).kind;
    expect([kinds(9.9), kinds(10.1)]).toEqual(['healthy', 'unclear']);
    const paused = { longestQuiet: 3 };
    expect([kinds(10.9, paused), kinds(11.1, paused)]).toEqual(['healthy', 'unclear']);
  });

  it('is waited for as long as a hang if older records are lost', () => {
    const kind = (end: number) =>
      at(
        end,
        [asked(5), asked(4), asked(5)].map((rank) => ({ ...rank, watched: 60 })),
      ).kind;
    expect([kind(34.9), kind(35.1)]).toEqual(['healthy', 'unclear']);
  });

  it('is not named while the clocks may be wrong by as much', () => {
    const kind = (clockBound: number) =>
      judge(evidence([asked(5), asked(4), asked(5)], { end: 13, clockBound })).kind;
    expect([kind(1.4), kind(1.6)]).toEqual(['unclear', 'healthy']);
  });

  it('is named sooner with a short --hung-after', () => {
    expect(unclearOf(at(6.5, [asked(5), asked(4), asked(5)], { hungAfter: 1 })).idle!.behind).toMatchObject([
      { files: [1] },
    ]);
  });

  it('is also named if it ended in order', () => {
    expect(unclearOf(at(100, [asked(5), { ...asked(4), closed: true }])).idle).toMatchObject({
      files: [0],
      ended: [1],
      behind: [{ files: [1] }],
    });
  });
});

describe('a rank that fell silent while the others live', () => {
  const live = { calls, isAlive: true } as const;

  it('is named, though all that it had begun has ended', () => {
    expect(unclearOf(at(20, [live, { calls, alive: 10 }, live])).silent).toMatchObject([{ file: 1 }]);
    // So long before the others that its file is no copy.
    expect(
      unclearOf(
        at(60, [{ calls: [...calls, done(3, 58, { func: 'Broadcast', root: 0 })] }, { calls, alive: 10 }]),
      ).silent,
    ).toMatchObject([{ file: 1, mayBeCopy: false }]);
  });

  it('is named with the work that it had not finished, and the others had, before they paused', () => {
    const dead = { ...sampled, calls: [...calls.slice(0, 2), open(2, 3)], alive: 3.2 };
    const verdict = at(100, [{ ...sampled, isAlive: true }, dead, { ...sampled, isAlive: true }]);
    expect(unclearOf(verdict)).toMatchObject({
      work: { func: 'AllReduce', seq: 2, file: 1 },
      files: [1],
      idle: { files: [0, 2] },
      silent: [{ file: 1 }],
    });
    // A rank that is alive goes on.
    expect(at(100, [sampled, { ...dead, alive: 100 }]).kind).not.toBe('unclear');
  });

  it('is named beside those that do nothing', () => {
    const { idle, silent } = unclearOf(at(100, [live, { calls, alive: 10 }, live]));
    expect(idle).toMatchObject({ files: [0, 2] });
    expect(silent).toMatchObject([{ file: 1 }]);
  });

  it('leaves nothing unclear where its file may be a copy, or others ended in order later', () => {
    expect(at(20, [{ calls }, { calls, alive: 10 }])).toMatchObject({
      kind: 'healthy',
      silent: [{ file: 1, mayBeCopy: true }],
    });
    expect(
      at(20, [
        { calls, closed: true },
        { calls, alive: 10 },
      ]),
    ).toMatchObject({
      kind: 'healthy',
      silent: [{ file: 1 }],
    });
  });
});
