/** Which rank is slow, by what the others waited for it; and when its lateness is only chance, or not known. */

import { describe, expect, it } from 'vitest';
import { seeded } from '../support/clocks/simulated_links.js';
import { judge } from '../../src/verdict/judge.js';
import { latenessOf } from '../../src/verdict/facts/suspects.js';
import type { Lateness, Verdict } from '../../src/verdict/types.js';
import { evidence, open, s, type MadeUpCall, type MadeUpRank } from './evidence.js';

function lateIn(verdict: Verdict): Lateness {
  const late = latenessOf(verdict);
  if (!late) throw new Error(`nobody is late: ${verdict.kind}`);
  return late;
}

describe('the slow rank', () => {
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
    const slow = lateIn(judge(evidence([late(0), late(0.3), late(0.01)])));
    expect(slow).toMatchObject({ comm: 'world', file: 1, late: 9, of: 9 });
    expect(slow.cost / 1e9).toBeCloseTo(9 * 0.29);
  });

  it('is reported if NCCL does not report the number of ranks, and none is missing', () => {
    const ranks = [late(0), late(0.3), late(0.01)];
    expect(lateIn(judge(evidence(ranks, { unknownSize: true })))).toMatchObject({
      file: 1,
      late: 9,
      of: 9,
    });
    expect(judge(evidence(ranks, { unknownSize: true, missing: true })).kind).toBe('healthy');
  });

  it('is the rank of three long waits, if they are most of the time', () => {
    const waits = (long: readonly number[], isLate: boolean): MadeUpRank => {
      let from = 0;
      const calls = Array.from({ length: 10 }, (_, seq): MadeUpCall => {
        const wait = long.includes(seq) ? 5 : 0;
        const [at, end] = [from + (isLate ? wait : 0), from + wait + 0.2];
        from = end + 0.1;
        return { seq, at, end };
      });
      return { calls, closed: true };
    };
    const run = (long: readonly number[]): Verdict =>
      judge(evidence([0, 1, 2, 3].map((rank) => waits(long, rank === 2))));
    expect(lateIn(run([3, 5, 7]))).toMatchObject({ file: 2, late: 3, of: 9 });
    expect(run([3, 5]).kind).toBe('unclear');
  });

  it('are two ranks, if all others wait for both', () => {
    const slow = lateIn(judge(evidence([late(0), late(0.3), late(0.31), late(0.01), late(0.02)])));
    expect(slow).toMatchObject({ on: 'host', late: 9, of: 9 });
    expect(slow.together.map(({ file }) => file)).toEqual([1, 2]);
    expect(slow.cost / 1e9).toBeCloseTo(9 * 0.28);
  });

  it('is one rank, not it and another one', () => {
    const slow = lateIn(judge(evidence([late(0), late(0.3), late(0.1), late(0.01), late(0.02)])));
    expect(slow).toMatchObject({ file: 1, together: [] });
  });

  it('is no rank, nor several, if all jitter alike, however long now and then', () => {
    const random = seeded(11);
    const jitter = (): number => -Math.log(random()) * (random() < 0.1 ? 0.2 : 0.02);
    const run = (): Verdict => {
      const ranks = Array.from({ length: 8 }, (): MadeUpCall[] => []);
      let from = 0;
      for (let seq = 0; seq < 30; seq++) {
        const came = ranks.map(() => from + jitter());
        from = Math.max(...came) + 0.01;
        ranks.forEach((calls, rank) => calls.push({ seq, at: came[rank]!, end: from }));
      }
      return judge(evidence(ranks.map((calls) => ({ calls, closed: true }))));
    };
    // As rarely as the limit says, not more often because most of the time is lost.
    const slow = Array.from({ length: 150 }, run).flatMap((one) => latenessOf(one) ?? []);
    expect(slow.length).toBeLessThanOrEqual(1);
    expect(slow.flatMap(({ together }) => together)).toEqual([]);
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
    const slow = lateIn(judge(evidence([{ calls: calls(0) }, { calls: calls(0.5) }], { end: 20 })));
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
    expect(verdict).toMatchObject({ kind: 'healthy', unresolved: { file: 1, clockBound: s(0.32) } });
    const resolved = lateIn(judge(evidence(ranks, { clockBound: 0.02 })));
    expect(resolved).toMatchObject({ file: 1, late: 9, clockBound: s(0.04) });
    expect(resolved.cost / 1e9).toBeCloseTo(9 * (0.29 - 0.04));
  });

  /** `count` collectives. Those at `places` last 3 s because the rank comes late, the others 0.1 s. */
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

  it('is a rank that cost most of the time in few waits, and their number is reported', () => {
    expect(lateIn(judged([5, 15, 25, 35], 40))).toMatchObject({
      file: 0,
      waits: 4,
      late: 4,
      course: 'always',
    });
  });

  it('is unclear if one or two waits cost half of the time: too few to call a rank slow, too much to be healthy', () => {
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

  it('is unclear if four waits cost a third of the time, and no rank if they cost a tenth', () => {
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
    expect(lateIn(judged(from(30, 40), 40)).course).toBe('since');
    expect(lateIn(judged(from(1, 11), 40)).course).toBe('until');
    expect(lateIn(judged(from(15, 25), 40)).course).toBe('between');
  });

  it('is reported for a job that still works, too', () => {
    const still = ({ calls }: MadeUpRank): MadeUpRank => ({ calls: [...calls, open(10, 10.5)] });
    const verdict = judge(evidence([still(late(0)), still(late(0)), still(late(0.3))], { end: 10.6 }));
    expect(lateIn(verdict)).toMatchObject({ file: 2 });
  });
});

describe('where hosts run ahead', () => {
  /** The hosts call three collectives ahead, and take this long for each call. */
  function run(hostTimes: readonly (readonly number[])[]) {
    const calls = hostTimes.map((): MadeUpCall[] => []);
    const ends: number[] = [];
    const at = hostTimes.map(() => 1);
    hostTimes[0]!.forEach((_, seq) => {
      hostTimes.forEach((times, rank) => {
        at[rank] = Math.max(at[rank]!, ends[seq - 3] ?? 0) + times[seq]!;
      });
      ends.push(Math.max(...at, ends[seq - 1] ?? 0) + 0.001);
      calls.forEach((list, rank) => list.push({ seq, at: at[rank]!, end: ends[seq]! }));
    });
    return judge(evidence(calls.map((list) => ({ calls: list, closed: true }))));
  }
  /** Always the same: between 0 and 1, as if by chance. */
  const noise = (seed: number) => {
    let state = seed;
    return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  };
  const times = (seed: number, least: number, most: number) => {
    const next = noise(seed);
    return Array.from({ length: 80 }, () => least + (most - least) * next());
  };

  it('a rank that takes longer for each call is slow, and costs what the run would gain without it', () => {
    const { kind, latest, ...verdict } = run([times(1, 0, 0.02), times(2, 0, 0.02), times(3, 0.01, 0.04)]);
    expect({ kind, latest }).toEqual({ kind: 'slow', latest: null });
    expect(verdict).toMatchObject({ slow: { file: 2, on: 'host' } });
  });

  it('one of equal ranks is not slow, although all wait for the one that lags behind', () => {
    for (let seed = 1; seed < 60; seed += 3) {
      const verdict = run([times(seed, 0, 0.02), times(seed + 1, 0, 0.02), times(seed + 2, 0, 0.02)]);
      expect(verdict.kind).toBe('healthy');
    }
  });
});
