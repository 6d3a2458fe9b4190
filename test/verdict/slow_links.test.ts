/** A slow link that costs so much that the verdict names it. */

import { describe, expect, it } from 'vitest';
import type { LinkTimes } from '../../src/cluster/link_times.js';
import { slowLinks } from '../../src/cluster/slow_links.js';
import { judge } from '../../src/verdict/judge.js';
import { suspects } from '../../src/verdict/evidence/suspects.js';
import { done, evidence, type MadeUpRank } from './evidence.js';

const RANKS = 4;
const calls = Array.from({ length: 10 }, (_, seq) => done(seq, seq));
const ranks: MadeUpRank[] = Array.from({ length: RANKS }, () => ({ calls }));

/** A ring; `ms`: per sender, else 0.2. 100 sends each. */
const ring = (ms: Readonly<Record<number, number>>, sends = 100): LinkTimes[] =>
  ranks.map((_, rank) => ({
    commId: 1n,
    sisters: 'world',
    file: rank,
    rank,
    peer: (rank + 1) % RANKS,
    peerFile: (rank + 1) % RANKS,
    channel: 0,
    isWithinHost: false,
    sizes: [1e6 * (ms[rank] ?? 0.2)].map((ns) => ({
      ...{ bytes: 1 << 16, sends, medianNs: ns, quickNs: ns, ownNs: ns },
    })),
  }));

const verdictOf = (links: readonly LinkTimes[]) =>
  judge(evidence(ranks, { slowLinks: slowLinks(links), end: 10 }));

describe('a slow link', () => {
  it('is reported with its sender, where it alone is slow', () => {
    const verdict = verdictOf(ring({ 2: 80 }));
    expect(verdict).toMatchObject({
      kind: 'slow',
      slow: { file: 2, on: 'link', link: { file: 2, peerFile: 3, sends: 100, isOnlyOne: true } },
    });
    // 100 sends of 79.8 ms more, of which 8 may be under way at once.
    if (verdict.kind === 'slow') expect(verdict.slow.cost / 1e9).toBeCloseTo(0.9975, 4);
    expect(suspects(verdict)).toEqual([2]);
  });

  it('is reported as the rank that sends and receives slowly, where both its links are slow', () => {
    expect(verdictOf(ring({ 1: 90, 2: 80 }))).toMatchObject({
      kind: 'slow',
      slow: { file: 2, link: { file: 1, peerFile: 2, isOnlyOne: false } },
    });
  });

  it.each<readonly [string, readonly LinkTimes[]]>([
    ['it costs little', ring({ 2: 30 })],
    ['it sent little', ring({ 2: 900 }, 15)],
    ['there are none like it', ring({ 2: 80 }).map((link) => ({ ...link, isWithinHost: link.file !== 2 }))],
    ['all are slow', ring({ 0: 80, 1: 80, 2: 80, 3: 80 })],
  ])('is not reported, where %s', (_, links) => {
    expect(verdictOf(links).kind).toBe('healthy');
  });
});
