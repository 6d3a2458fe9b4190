/** Causes of slowness: when a change is one, and what slow links have in common. Made-up numbers; test/end_to_end/causes.ci.test.ts records jobs. */

import { describe, expect, it } from 'vitest';
import { causesOf, type Cause } from '../../src/analysis/causes.js';
import type { CauseEvidence } from '../../src/analysis/cause_evidence.js';
import { changePoint } from '../../src/analysis/slower_since.js';
import type { CollectiveRow } from '../../src/analysis/collectives.js';
import type { SlowLinkRow } from '../../src/analysis/slow_link_rows.js';
import type { LinkRow } from '../../src/analysis/link_rows.js';

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

/** Ranks 0 to 3 on host a, 4 to 7 on host b; each sends to each of the other host. */
const RANKS = [0, 1, 2, 3, 4, 5, 6, 7];
const hostOf = (rank: number): string => (rank < 4 ? 'a' : rank < 8 ? 'b' : 'c');
const ALL = RANKS.flatMap((source) =>
  RANKS.flatMap((destination) =>
    hostOf(source) === hostOf(destination) ? [] : [[source, destination] as const],
  ),
);

function causesWhere(
  isSlow: (source: number, destination: number) => boolean,
  links = ALL,
  durationNs = 1e9,
): Cause[] {
  const rows = links.map(([source, destination]) => ({
    commId: '0x7',
    source,
    destination,
    sourceHost: hostOf(source),
    destinationHost: hostOf(destination),
  })) as unknown as LinkRow[];
  const slowLinks = links.flatMap(([source, destination], link): SlowLinkRow[] =>
    isSlow(source, destination)
      ? [
          {
            link,
            by: 'send',
            ratio: 5,
            like: 9,
            sizes: 1,
            medianNs: 5,
            usualNs: 1,
            costNs: 1e7,
            transfers: 100,
          },
        ]
      : [],
  );
  return causesOf({ ...NOTHING, links: rows, slowLinks, durationNs });
}

const NOTHING: CauseEvidence = {
  ...{ collectives: [], allToAlls: [], links: [], slowLinks: [], late: null, durationNs: 1e9 },
  ...{ rankWaits: [], waits: [] },
  rankOf: (file) => file,
  clockOf: String,
  kindOf: () => '',
};

describe('slow links', () => {
  it('one of several of a rank is a link', () => {
    expect(causesWhere((source, destination) => source === 1 && destination === 6)).toEqual([
      expect.objectContaining({
        cause: 'slow link',
        rank: 1,
        ends: [1, 6],
        slowPairs: 1,
        pairs: 4,
        cannotTell: null,
      }),
    ]);
  });

  it('the only link of a rank is slow: link or NIC, which cannot be distinguished', () => {
    const ring = RANKS.map((rank) => [rank, (rank + 1) % 8] as const);
    expect(causesWhere((source) => source === 2, ring)).toEqual([
      expect.objectContaining({ cause: 'slow link', rank: 2, cannotTell: 'link or NIC' }),
    ]);
  });

  it.each<[string, (source: number, destination: number) => boolean]>([
    ['both directions', (source, destination) => source === 2 || destination === 2],
    ['what it sends', (source) => source === 2],
    ['what it receives', (_, destination) => destination === 2],
  ])('all of a rank (%s) are its NIC', (_, isSlow) => {
    expect(causesWhere(isSlow)).toEqual([expect.objectContaining({ cause: 'slow NIC', rank: 2 })]);
  });

  it('two slow links of different ranks are two', () => {
    const found = causesWhere(
      (source, destination) => source !== destination && source + destination === 7 && source < 2,
    );
    expect(found.map(({ cause }) => cause)).toEqual(['slow link', 'slow link']);
  });

  it('all that a node sends is the node, if another node is not', () => {
    const three = [...ALL, ...RANKS.flatMap((rank) => [[rank, 8] as const, [8, rank] as const])];
    expect(causesWhere((source) => source < 4, three)).toEqual([
      expect.objectContaining({ cause: 'slow node', host: 'a', rank: null }),
    ]);
  });

  it('all links from one of two nodes to the other: neither a node nor a NIC is called slow', () => {
    const found = causesWhere((source) => source < 4).map(({ cause }) => cause);
    expect(new Set(found)).toEqual(new Set(['slow link']));
  });

  it('of 1 % of the run at least: a link that costs less is no cause', () => {
    const isSlow = (source: number, destination: number): boolean => source === 1 && destination === 6;
    expect(causesWhere(isSlow, ALL, 1.1e9)).toEqual([]);
  });

  it('none: no cause', () => {
    expect(causesWhere(() => false)).toEqual([]);
  });
});

/** A ring of four ranks, two channels; what rank 1 sends is slow on `slowChannels`. */
function ringCauses(slowChannels: readonly number[]): Cause[] {
  const link = (source: number, channel: number): LinkRow =>
    ({
      ...{
        commId: 'c',
        channel,
        source,
        destination: (source + 1) % 4,
        sourceHost: 'a',
        destinationHost: 'a',
      },
      ...{ bytes: 1e6, transfers: 100, senderRoomNs: 0, receiverGpuNs: null },
    }) as LinkRow;
  const ranks = [0, 1, 2, 3];
  const links = ranks.flatMap((rank) => [link(rank, 0), link(rank, 1)]);
  const slowLinks = slowChannels.map((channel): SlowLinkRow => ({
    ...{
      link: 2 + channel,
      by: 'send',
      ratio: 5,
      like: 3,
      sizes: 2,
      medianNs: 5,
      usualNs: 1,
      costNs: 1e7,
      transfers: 100,
    },
  }));
  return causesOf({ ...NOTHING, links, slowLinks });
}

describe('slow sends of one rank', () => {
  it('on one channel of a pair: the channel is thin', () => {
    expect(ringCauses([1])).toEqual([
      expect.objectContaining({ cause: 'thin channel', rank: 1, channel: 1, ends: [1, 2] }),
    ]);
  });

  it('on all channels of its only link: not known what', () => {
    expect(ringCauses([0, 1])).toEqual([
      expect.objectContaining({ cause: 'slow link', cannotTell: 'link or NIC' }),
    ]);
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
      expect.objectContaining({ cause: 'contention', comm: 'tp', with: 'dp', together: 30, alone: 29 }),
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
  const slow = { cause: 'slow group', comm: 'dp', commId: '0', sisters: 3, count: 20 };

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
