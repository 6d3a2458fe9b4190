/** Causes of slowness: when a change is one. Made-up numbers; test/end_to_end/causes.ci.test.ts records jobs. */

import { describe, expect, it } from 'vitest';
import { causesOf } from '../../src/analysis/causes.js';
import type { CauseEvidence } from '../../src/analysis/cause_evidence.js';
import { changePoint } from '../../src/analysis/slower_since.js';
import type { CollectiveRow } from '../../src/analysis/collectives.js';
import { faultsOf, slowLink } from '../support/made_up/link_faults.js';

/** Logarithms that scatter by about 0.1, in a fixed way. */
const scatter = (count: number, level: (i: number) => number): number[] =>
  Array.from(
    { length: count },
    (_, i) => level(i) + 0.1 * Math.sin(12.9898 * i) + 0.1 * Math.cos(4.1414 * i * i),
  );

describe('a change point', () => {
  it.each([20, 33, 40, 61])('is found at value %i of 80', (at) => {
    const found = changePoint(scatter(80, (i) => (i < at ? 0 : 1)))!;
    expect(Math.abs(found.index - at)).toBeLessThanOrEqual(1);
    expect(found.factor).toBeGreaterThan(2.2);
    expect(found.factor).toBeLessThan(3.3);
  });

  it.each<[string, (i: number) => number]>([
    ['nothing changes', () => 0],
    ['it becomes quicker', (i) => (i < 40 ? 1 : 0)],
    ['it changes by a fifth', (i) => (i < 40 ? 0 : 0.2)],
    ['it is slow in the middle only', (i) => (i >= 30 && i < 50 ? 1 : 0)],
    ['every tenth is slow', (i) => (i % 10 === 0 ? 2 : 0)],
    ['only the last ones are slow', (i) => (i < 76 ? 0 : 3)],
  ])('is none if %s', (_, level) => {
    expect(changePoint(scatter(80, level))).toBeNull();
  });

  it('is none in too few values', () => {
    expect(changePoint(scatter(19, (i) => (i < 10 ? 0 : 3)))).toBeNull();
  });
});

const NOTHING: CauseEvidence = {
  ...{ collectives: [], allToAlls: [], links: [], faults: [], late: null, durationNs: 1e9 },
  gpus: [],
  rowOf: () => 1,
  filesOf: (rank) => [Number(rank)],
  kindOf: () => '',
};

describe('slow links', () => {
  const link = { commId: 7n, source: 1, destination: 2, channel: 0 };
  const ring = [0, 1, 2, 3].map((rank) => ({ ...link, source: rank, destination: (rank + 1) % 4 }));
  const faults = faultsOf(ring, [slowLink(link)]);

  it('are a cause, with the link, its cost and who is to be looked at', () => {
    expect(causesOf({ ...NOTHING, faults })).toEqual([
      expect.objectContaining({
        ...{ rule: 'slow link', cost: 1e7, isSure: false },
        connection: { file: 1, peerFile: 2, channel: 0, step: null },
        who: expect.objectContaining({ degree: 'this', files: [1] }) as unknown,
        about: expect.objectContaining({ ends: [1, 2], links: [1], cannotTell: 'link or NIC' }) as unknown,
      }),
    ]);
  });

  it('that cost less than 1 % of the run are none', () => {
    expect(causesOf({ ...NOTHING, faults, durationNs: 1.1e9 })).toEqual([]);
  });
});

describe('contention', () => {
  /** AllReduces of "tp", every other one while one of "dp" is under way; alone they take 100 us. */
  const rows = (together: number): CollectiveRow[] =>
    Array.from({ length: 60 }, (_, i) => {
      const isTogether = i % 2 === 1;
      const row = { func: 'AllReduce', bytes: 1024, skewNs: 0, lateRank: null };
      const noise = 1000 * ((i * 7) % 11);
      const tp = {
        ...{ ...row, comm: 'tp', commId: 'a', startNs: i * 1e6 },
        durationNs: (isTogether ? together : 100_000) + noise,
      };
      const dp = { ...row, comm: 'dp', commId: 'b', startNs: i * 1e6 - 5000, durationNs: 400_000 };
      return (isTogether ? [dp, tp] : [tp]) as CollectiveRow[];
    }).flat();

  it('is named with both communicators', () => {
    const causes = causesOf({ ...NOTHING, collectives: rows(300_000), durationNs: 60e6 });
    expect(causes).toEqual([
      expect.objectContaining({
        ...{ rule: 'contention', where: expect.objectContaining({ comm: 'tp' }) as unknown },
        about: expect.objectContaining({ with: 'dp', together: 30, alone: 29 }) as unknown,
      }),
    ]);
  });

  it('is none if they take as long', () => {
    expect(causesOf({ ...NOTHING, collectives: rows(104_000), durationNs: 60e6 })).toEqual([]);
  });
});

describe('a group that is slower than its sisters', () => {
  /** 20 AllReduces of each group called "dp", 100 us each; those of the first one take `first` ns. */
  const rows = (first: number, groups = 4): CollectiveRow[] =>
    Array.from({ length: 20 * groups }, (_, i): CollectiveRow => {
      const [group, call] = [i % groups, Math.floor(i / groups)];
      const took = (group === 0 ? first : 100_000) + 500 * ((i * 7) % 11);
      return {
        ...{ comm: 'dp', commId: `${group}`, commSize: 2, func: 'AllReduce', bytes: 1024, plan: '' },
        ...{ startNs: call * 3e6, skewNs: 0, durationNs: took, lateRank: null },
      } as CollectiveRow;
    });
  const slow = {
    ...{ rule: 'slow group', where: expect.objectContaining({ comm: 'dp', commId: '0' }) as unknown },
    about: expect.objectContaining({ sisters: 3, count: 20 }) as unknown,
  };

  it('is named with its time and that of the others', () => {
    expect(causesOf({ ...NOTHING, collectives: rows(2e6), durationNs: 60e6 })).toEqual([
      expect.objectContaining(slow),
    ]);
  });

  it.each([
    ['it takes only three times as long', rows(300_000)],
    ['it has one sister', rows(2e6, 2)],
    [
      'another one is as slow',
      rows(2e6).map((row) => (row.commId === '1' ? { ...row, durationNs: 1.9e6 } : row)),
    ],
    [
      'the others are of another size',
      rows(2e6).map((row) => (row.commId === '0' ? row : { ...row, commSize: 4 })),
    ],
  ])('is none if %s', (_, collectives) => {
    expect(causesOf({ ...NOTHING, collectives, durationNs: 60e6 })).toEqual([]);
  });
});
