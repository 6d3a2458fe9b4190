/** What slow links have in common, and how a verdict says it. Made-up links; test/end_to_end/causes.ci.test.ts records jobs. */

import { describe, expect, it } from 'vitest';
import type { LinkFault } from '../../src/cluster/link_faults.js';
import { faultText } from '../../src/report/cause_text.js';
import type { SlowSends } from '../../src/verdict/types.js';
import { faultsOf, slowLink, type MadeUpLink } from '../support/made_up/link_faults.js';
import { COLUMNS, labelled } from '../../src/report/text.js';

/** Ranks 0 to 3 on host a, 4 to 7 on host b; each sends to each of the other host. */
const RANKS = [0, 1, 2, 3, 4, 5, 6, 7];
const hostOf = (rank: number): string => (rank < 4 ? 'a' : rank < 8 ? 'b' : 'c');
const link = (source: number, destination: number, channel = 0): MadeUpLink => ({
  ...{ commId: 7n, source, destination, channel },
});
const ALL = RANKS.flatMap((source) =>
  RANKS.flatMap((destination) => (hostOf(source) === hostOf(destination) ? [] : [link(source, destination)])),
);

const faultsWhere = (isSlow: (source: number, destination: number) => boolean, links = ALL): LinkFault[] =>
  faultsOf(
    links,
    links.filter((one) => isSlow(one.source, one.destination)).map((one) => slowLink(one)),
    { hostOf },
  );

describe('slow links', () => {
  it('one of several of a rank is a link', () => {
    expect(faultsWhere((source, destination) => source === 1 && destination === 6)).toMatchObject([
      { what: 'slow link', rank: 1, ends: [1, 6], slowPairs: 1, pairs: 4, cannotTell: null },
    ]);
  });

  it('the only link of a rank is slow: link or NIC, which cannot be distinguished', () => {
    const ring = RANKS.map((rank) => link(rank, (rank + 1) % 8));
    expect(faultsWhere((source) => source === 2, ring)).toMatchObject([
      { what: 'slow link', file: 2, rank: 2, cannotTell: 'link or NIC' },
    ]);
  });

  it.each<[string, (source: number, destination: number) => boolean]>([
    ['both directions', (source, destination) => source === 2 || destination === 2],
    ['what it sends', (source) => source === 2],
    ['what it receives', (_, destination) => destination === 2],
  ])('all of a rank (%s) are its NIC', (_, isSlow) => {
    expect(faultsWhere(isSlow)).toMatchObject([{ what: 'slow NIC', file: 2, rank: 2 }]);
  });

  it('two slow links of different ranks are two', () => {
    const found = faultsWhere(
      (source, destination) => source !== destination && source + destination === 7 && source < 2,
    );
    expect(found.map(({ what }) => what)).toEqual(['slow link', 'slow link']);
  });

  it('most of what a rank receives: its sender has one link each, so the receiver is looked at', () => {
    const found = faultsWhere((source, destination) => destination === 6 && source < 3);
    expect(found.map(({ file, ends }) => [file, ends])).toEqual([0, 1, 2].map((source) => [6, [source, 6]]));
  });

  it('all that a node sends is the node, if another node is not', () => {
    const three = [...ALL, ...RANKS.flatMap((rank) => [link(rank, 8), link(8, rank)])];
    expect(faultsWhere((source) => source < 4, three)).toMatchObject([
      { what: 'slow node', host: 'a', rank: null },
    ]);
  });

  it('all links from one of two nodes to the other: neither a node nor a NIC is called slow', () => {
    expect(new Set(faultsWhere((source) => source < 4).map(({ what }) => what))).toEqual(
      new Set(['slow link']),
    );
  });

  it('of a rank whose proxy thread has no CPU time are no faults of their own', () => {
    const wait = { file: 2, transfers: 100, like: 7, waitNs: 4e6, usualNs: 1e5, costNs: 2e7 };
    const slow = ALL.filter(({ source }) => source === 2).map((one) => slowLink(one));
    const found = faultsOf(ALL, slow, { hostOf, starved: [wait] });
    expect(found).toMatchObject([{ what: 'starved proxy thread', file: 2, rank: 2, wait, costNs: 2e7 }]);
    expect(found[0]!.links).toHaveLength(4);
  });

  it('none: nothing', () => {
    expect(faultsWhere(() => false)).toEqual([]);
  });
});

describe('slow sends of one rank', () => {
  /** A ring of four ranks, two channels; what rank 1 sends is slow on these channels. */
  const ring = (...slow: readonly number[]): LinkFault[] => {
    const links = [0, 1, 2, 3].flatMap((rank) => [0, 1].map((one) => link(rank, (rank + 1) % 4, one)));
    return faultsOf(
      links,
      slow.map((channel) => slowLink(link(1, 2, channel))),
    );
  };

  it('on one channel of a pair: the channel is thin', () => {
    expect(ring(1)).toMatchObject([{ what: 'thin channel', rank: 1, channel: 1, ends: [1, 2] }]);
  });

  it('on all channels of its only link: not known what', () => {
    expect(ring(0, 1)).toMatchObject([{ what: 'slow link', cannotTell: 'link or NIC' }]);
  });
});

describe('in a line of a verdict', () => {
  const fault: NonNullable<SlowSends['link']['fault']> = {
    ...{ what: 'slow link', rank: 1, host: 'node7', ends: [1, 2], pairs: 3, channel: 4, cannotTell: null },
  };

  it.each<[NonNullable<SlowSends['link']['fault']>, string]>([
    [fault, "the link to rank 2: rank 1's other links are not slow"],
    [{ ...fault, cannotTell: 'link or NIC' }, 'the link or the NIC: rank 1 sends over no other link'],
    [{ ...fault, what: 'slow NIC' }, 'the NIC of rank 1: all its 3 links are slow'],
    [{ ...fault, what: 'thin channel' }, 'channel 4 alone: the other channels there are not slow'],
    [{ ...fault, what: 'slow node' }, 'host node7: all 3 links are slow'],
    [{ ...fault, what: 'starved proxy thread' }, 'the proxy thread of rank 1 gets too little CPU time'],
  ])('%#', (one, text) => {
    expect(faultText(one)).toBe(text);
  });

  it('fits, whatever the numbers', () => {
    const long = {
      ...fault,
      rank: 1234,
      ends: [1234, 1235],
      host: 'h'.repeat(60),
      pairs: 2047,
      channel: 31,
    } as const;
    for (const cannotTell of [
      'link or NIC',
      'NIC or proxy thread',
      'link, NIC or proxy thread',
      null,
    ] as const)
      for (const what of [
        'slow link',
        'slow NIC',
        'slow node',
        'thin channel',
        'starved proxy thread',
      ] as const)
        expect(labelled('may be', faultText({ ...long, what, cannotTell })).length).toBeLessThanOrEqual(
          COLUMNS,
        );
  });
});
