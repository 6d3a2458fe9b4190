/** Calls for which NCCL reported no collective, compared between ranks: only calls that are surely the same one on each rank. */

import { describe, expect, it } from 'vitest';
import { judge } from '../../src/verdict/judge.js';
import type { Mismatch, Verdict } from '../../src/verdict/types.js';
import { done, evidence, open, type MadeUpAsked, type MadeUpCall, type MadeUpRank } from './evidence.js';

const closed = (...asked: readonly MadeUpAsked[]): MadeUpRank => ({ calls: [], asked, closed: true });
const judged = (...ranks: readonly MadeUpRank[]): Verdict => judge(evidence(ranks, { end: 20 }));
const mismatchOf = (verdict: Verdict): Mismatch => {
  if (verdict.kind !== 'mismatch') throw new Error(`no mismatch but ${verdict.kind}`);
  return verdict.mismatch;
};
const broadcast = (at: number, more: Partial<MadeUpAsked> = {}): MadeUpAsked => ({
  func: 'Broadcast',
  root: 0,
  at,
  ...more,
});

describe('ranks with other calls than most', () => {
  it('are not found by counting calls: a rank with fewer calls may still make them', () => {
    expect(judged(closed(broadcast(1), broadcast(2)), closed(broadcast(1))).kind).toBe('nothing');
  });

  it('are known from the collectives that NCCL reported', () => {
    const rank = (count: number): MadeUpRank => ({
      calls: [done(0, 1), done(1, 2, { count })],
      asked: [{ at: 1 }, { at: 2, count }],
      closed: true,
    });
    expect(mismatchOf(judged(rank(1), rank(1), rank(2)))).toMatchObject({
      call: null,
      ways: [{ seq: 1 }, { seq: 1 }],
    });
  });

  it('make a stall of their communicator a hang at once, which names them', () => {
    const rank = (root: number): MadeUpRank => ({
      calls: [done(0, 1), open(1, 4)],
      asked: [{ at: 1 }, broadcast(3, { root }), { at: 4 }],
    });
    const verdict = judge(evidence([rank(0), rank(0), rank(2)], { end: 6 }));
    expect(verdict).toMatchObject({ kind: 'hung', hang: { different: [2], mismatch: { call: 1 } } });
  });
});

describe('within a group', () => {
  const a = broadcast(1);
  const b: MadeUpAsked = { at: 1.1, sameGroup: true };
  const last: MadeUpAsked = { at: 3, func: 'AllGather' };
  const other: MadeUpAsked = { at: 1 };

  it('a call that only one rank made is named', () => {
    const { call, ways } = mismatchOf(
      judged(closed(a, b, last), closed(a, b, last), closed(a, { ...b, count: 3 }, last)),
    );
    // It is the second call of that rank's group, and may be the first one of the other ranks.
    expect(call).toBe(null);
    expect(ways).toMatchObject([
      { func: 'AllReduce', count: 1024, entered: [{ record: '0:1' }, { record: '0:1' }] },
      { func: 'AllReduce', count: 3, entered: [{ record: '0:1' }] },
    ]);
  });

  it('is not judged before it has ended: more calls may belong to it', () => {
    const begun = { ...other, isOpen: true as const };
    expect(judged(closed(a), closed(begun)).kind).toBe('nothing');
    expect(judged(closed(a), closed(other)).kind).toBe('mismatch');
  });
});

it('ranks with unknown calls are not compared', () => {
  const usual = closed(broadcast(1), broadcast(2));
  expect(judged(usual, { calls: [], closed: true }, usual).kind).toBe('nothing');
});

describe('if the first calls of a rank are lost', () => {
  const later = (first: number, ...more: readonly MadeUpAsked[]): MadeUpRank => {
    const told = (i: number): MadeUpAsked => ({
      at: 1 + i,
      told: i,
      ...(first > 0 && i === first && { isLater: true }),
    });
    return closed(...Array.from({ length: 6 - first }, (_, i) => told(first + i)), ...more);
  };

  it('the numbers of the others are known from a collective that NCCL reported', () => {
    const whole = later(0, broadcast(9));
    expect(judged(later(3, broadcast(9)), whole, later(2, broadcast(9))).kind).toBe('nothing');
    const verdict = judged(later(3, broadcast(9)), whole, later(2, broadcast(9, { root: 1 })));
    expect(mismatchOf(verdict)).toMatchObject({
      call: 6,
      ways: [
        { root: 0, entered: [{ file: 0 }, { file: 1 }] },
        { root: 1, entered: [{ file: 2, record: '0:4' }] },
      ],
    });
    // Without the lost calls its number is not known.
    const { call, ways } = mismatchOf(judged(later(3, broadcast(9)), later(2, broadcast(9, { root: 1 }))));
    expect([call, ways.length]).toEqual([null, 2]);
  });

  it('a rank that cannot be compared with an old file is compared with the others', () => {
    const from = (first: number, end: number, ...more: readonly MadeUpAsked[]): MadeUpRank =>
      closed(
        ...Array.from({ length: end - first }, (_, i) => ({
          at: 1 + first + i,
          told: first + i,
          ...(first > 0 && i === 0 && { isLater: true as const }),
        })),
        ...more,
      );
    const ranks = (root: number): MadeUpRank[] => [
      from(0, 5),
      from(5, 9, broadcast(12)),
      from(6, 9, broadcast(12, { root })),
    ];
    expect(judged(...ranks(0)).kind).toBe('nothing');
    expect(mismatchOf(judged(...ranks(1)))).toMatchObject({
      call: null,
      ways: [{ entered: [{ file: 1 }] }, { root: 1, entered: [{ file: 2 }] }],
    });
  });

  it('each rank is compared with the one that shares most calls with it', () => {
    const whole = closed(...Array.from({ length: 4 }, (_, i) => ({ at: 1 + i, told: i })));
    const more = (root: number): MadeUpRank =>
      closed({ at: 4, told: 3, isLater: true }, broadcast(5, { root }), broadcast(6));
    expect(mismatchOf(judged(whole, more(0), more(1)))).toMatchObject({
      call: 4,
      ways: [{ entered: [{ file: 1 }] }, { root: 1, entered: [{ file: 2 }] }],
    });
  });

  describe('that all ranks got past', () => {
    /** Rank 1 calls `other` second. All finish what they called until 9 s, in the order of their calls. `last`: what they then did. */
    const ran = (seconds: readonly string[], last: readonly MadeUpCall[]): MadeUpRank => {
      const funcs = ['AllReduce', ...seconds, 'AllReduce', 'AllReduce'];
      const seqOf = (i: number): number => funcs.slice(0, i).filter((func) => func === funcs[i]).length;
      return {
        calls: [...funcs.map((func, i) => ({ ...done(seqOf(i), 1 + i), func })), ...last],
        asked: funcs.map((func, i) => ({ func, at: 1 + i, told: seqOf(i) })),
      };
    };
    const usual = ['AllReduce', 'AllGather'];
    const verdictOf = (
      other: readonly string[],
      lastOf: (rank: number) => readonly MadeUpCall[],
      more: Partial<MadeUpRank> = {},
    ) => {
      const all = [0, 1, 2, 3].map((rank) => ran(rank === 1 ? other : usual, lastOf(rank)));
      return judge(evidence(all.map((one, rank) => (rank === 1 ? { ...one, ...more } : one))));
    };

    it('stop the rank that has called other functions ever since, however much later', () => {
      const verdict = verdictOf(['AllGather', 'AllGather'], (rank) => (rank === 1 ? [] : [open(3, 9)]));
      expect(verdict).toMatchObject({
        kind: 'hung',
        hang: { different: [1], mismatch: { what: 'calls', call: 1, ways: [{}, { func: 'AllGather' }] } },
      });
    });

    it('are no reason if each side called the same in another order, or if a rank died', () => {
      const swapped = verdictOf(['AllGather', 'AllReduce'], (rank) => (rank === 1 ? [] : [open(4, 9)]));
      expect(swapped).toMatchObject({ kind: 'hung', hang: { different: [], neverEntered: [{ file: 1 }] } });
      const missing = (rank: number): readonly MadeUpCall[] => (rank === 1 ? [] : [open(3, 9)]);
      const died = verdictOf(['AllGather', 'AllGather'], missing, { alive: 9, isGone: true });
      expect(died).toMatchObject({ kind: 'hung', hang: { different: [], silent: [{ file: 1 }] } });
    });
  });

  it('a group of which only the end is left is not compared', () => {
    const told: MadeUpAsked = { at: 1, told: 0 };
    const last: MadeUpAsked = { at: 4, told: 1 };
    const inGroup = (count: number, more: Partial<MadeUpAsked> = {}): MadeUpAsked => ({
      at: 2,
      count,
      ...more,
    });
    const whole = [told, inGroup(1), inGroup(2, { sameGroup: true }), last];
    const later = [inGroup(1, { isLater: true }), last];
    expect(judged(closed(...whole), closed(...later)).kind).toBe('nothing');
    const verdict = judged(closed(...whole, broadcast(5)), closed(...later, broadcast(5, { root: 1 })));
    expect(mismatchOf(verdict).call).toBe(4);
  });

  it('their numbers stay unknown if NCCL reported no collective, one within a group, or contradicting ones', () => {
    const whole = later(0, broadcast(9));
    const notNamed: MadeUpAsked = { at: 1, isLater: true };
    expect(judged(whole, closed(notNamed, broadcast(9, { root: 1 }))).kind).toBe('nothing');
    const grouped: MadeUpAsked = { at: 2, told: 5, sameGroup: true };
    expect(judged(whole, closed(notNamed, grouped, broadcast(9, { root: 1 }))).kind).toBe('nothing');
    const disagreeing = closed({ ...notNamed, told: 2 }, { at: 2, told: 5 }, broadcast(9, { root: 1 }));
    expect(judged(whole, disagreeing).kind).toBe('nothing');
  });
});

it('the reported collectives of each rank are read once', () => {
  const asked: MadeUpAsked[] = [
    { at: 2, told: 1, isLater: true },
    { at: 3, told: 2 },
  ];
  const made = evidence(
    Array.from({ length: 9 }, () => ({ calls: [], asked })),
    { end: 90 },
  );
  let times = 0;
  const ranks = made.ranks.map((rank) => {
    const calls = rank.hostCalls.get(0)!;
    const reported: typeof calls.reported = (most) => {
      // The last one alone is not a reading of all.
      if (most > 1) times++;
      return calls.reported(most);
    };
    return { ...rank, hostCalls: new Map([[0, { ...calls, reported }]]) };
  });
  judge({ ...made, ranks });
  expect(times).toBe(9);
});
