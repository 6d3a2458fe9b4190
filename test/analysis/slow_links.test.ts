/** Which link is called slow, and that chance, few transfers and a slow peer do not call one so. */

import { describe, expect, it } from 'vitest';
import { slowLinks } from '../../src/analysis/slow_links.js';
import type { LinkRow } from '../../src/analysis/transfers.js';

/** `times` of the usual send time, each size; the usual ones differ by a tenth. */
function link(
  source: number,
  times: number,
  { transfers = 40, leastTimes = times, other = false } = {},
): LinkRow {
  const usual = 1 + 0.1 * Math.sin(source);
  const bySize = [64 << 10, 512 << 10].map((bytes) => ({
    bytes,
    transfers,
    meanNs: Math.round(usual * times * (5000 + bytes / 10)),
    leastNs: Math.round(usual * leastTimes * (2000 + bytes / 20)),
  }));
  return {
    comm: 'dp',
    commId: '0x0000000000000007',
    channel: 0,
    source,
    destination: source + 1,
    sourceHost: 'a',
    destinationHost: other ? 'b' : 'a',
    transfers: 2 * transfers,
    bytes: 1,
    meanNs: 1,
    average: null,
    least: null,
    sizes: 2,
    senderGpuNs: 0,
    senderRoomNs: 0,
    receiverGpuNs: 0,
    bySize,
  };
}

const ring = (...times: number[]): LinkRow[] => times.map((one, source) => link(source, one));

describe('slow links', () => {
  it('one of eight, three times as slow at all sizes, is named with its evidence', () => {
    const found = slowLinks(ring(1, 1, 1, 3, 1, 1, 1, 1));
    expect(found).toEqual([expect.objectContaining({ link: 3, transfers: 80, sizes: 2, like: 7 })]);
    expect(found[0]!.ratio).toBeGreaterThan(2.5);
    expect(found[0]!.costNs).toBeGreaterThan(0);
  });

  it('of two the costlier first', () => {
    expect(slowLinks(ring(1, 1, 3, 1, 1, 6, 1, 1, 1, 1)).map((one) => one.link)).toEqual([5, 2]);
  });

  it.each([
    ['all alike', ring(1, 1, 1, 1, 1, 1, 1, 1)],
    ['too few to compare with', ring(1, 1, 4)],
    ['no usual time: they differ as much among each other', ring(1, 2, 4, 8, 1, 2, 4, 8)],
    [
      'slow at times, and as quick as the others at best',
      [...ring(1, 1, 1, 1, 1), link(5, 3, { leastTimes: 1 })],
    ],
    ['few transfers', [...ring(1, 1, 1, 1, 1), link(5, 3, { transfers: 7 })]],
    ['another kind of path: between hosts', [...ring(1, 1, 1, 1, 1), link(5, 3, { other: true })]],
  ])('none: %s', (_, links) => {
    expect(slowLinks(links)).toEqual([]);
  });

  it('where the other end has no file, its path is not known, and nothing is said', () => {
    const unknown = ring(1, 1, 1, 1, 1, 3).map((one) => ({ ...one, destinationHost: null }));
    expect(slowLinks(unknown)).toEqual([]);
  });
});
