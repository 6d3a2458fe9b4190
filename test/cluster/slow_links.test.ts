/** Which link is called slow. Chance, few sends or another kind of path are not enough. */

import { describe, expect, it } from 'vitest';
import type { ComparedLink } from '../../src/cluster/connections.js';
import { slowLinks } from '../../src/cluster/slow_links.js';

/** `times` the usual send time, for each size. The usual times differ by a tenth. */
function link(
  rank: number,
  times: number,
  { sends = 40, quickTimes = times, ownTimes = times, other = false } = {},
): ComparedLink {
  const usual = 1 + 0.1 * Math.sin(rank);
  const sizes = [64 << 10, 512 << 10].map((bytes) => ({
    bytes,
    sends,
    medianNs: usual * times * (5000 + bytes / 10),
    quickNs: usual * quickTimes * (2000 + bytes / 20),
    ownNs: usual * ownTimes * (3000 + bytes / 20),
  }));
  return {
    commId: 7n,
    sisters: 'world',
    file: rank,
    source: rank,
    destination: rank + 1,
    peerFile: rank + 1,
    channel: 0,
    isWithinHost: !other,
    sizes,
  };
}

const ring = (...times: number[]): ComparedLink[] => times.map((one, rank) => link(rank, one));

describe('slow links', () => {
  it('one of eight, three times as slow at all sizes, is named with its evidence', () => {
    const found = slowLinks(ring(1, 1, 1, 3, 1, 1, 1, 1));
    expect(found).toEqual([expect.objectContaining({ sends: 80, sizes: 2, like: 7 })]);
    expect(found[0]!.times.source).toBe(3);
    expect(found[0]!.medianNs / found[0]!.usualNs).toBeGreaterThan(2.5);
    expect(found[0]!.costNs).toBeGreaterThan(0);
  });

  it('lists the costlier of two first', () => {
    expect(slowLinks(ring(1, 1, 3, 1, 1, 6, 1, 1, 1, 1)).map((one) => one.times.source)).toEqual([5, 2]);
  });

  it.each([
    ['all alike', ring(1, 1, 1, 1, 1, 1, 1, 1)],
    ['too few to compare with', ring(1, 1, 4)],
    ['no usual time: they differ as much among each other', ring(1, 3, 9, 1, 3, 9, 1, 3, 9)],
    [
      'slow at times, and as quick as the others at best',
      [...ring(1, 1, 1, 1, 1), link(5, 3, { quickTimes: 1 })],
    ],
    ['its sender serves others first', [...ring(1, 1, 1, 1, 1), link(5, 5, { ownTimes: 1.2 })]],
    ['few transfers', [...ring(1, 1, 1, 1, 1), link(5, 3, { sends: 7 })]],
    ['another kind of path: between hosts', [...ring(1, 1, 1, 1, 1), link(5, 3, { other: true })]],
  ])('none: %s', (_, links) => {
    expect(slowLinks(links)).toEqual([]);
  });

  it('needs a larger difference if there are few links to compare', () => {
    const sizes = [2, 3, 5, 9];
    const least = sizes.map((others) => {
      const usual = Array.from({ length: others }, () => 1);
      return [3, 4, 6, 11].find((times) => slowLinks(ring(...usual, times)).length > 0);
    });
    expect(least).toEqual([11, 6, 4, 3]);
  });

  it('two of four are found: those at the rank with a slow NIC', () => {
    expect(slowLinks(ring(1, 20, 20, 1)).map((one) => one.times.source)).toEqual([2, 1]);
  });
});
