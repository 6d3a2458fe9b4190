/** A slow link that costs so much that the verdict names it. */

import { describe, expect, it } from 'vitest';
import type { ComparedLink } from '../../src/cluster/connections.js';
import { slowLinks } from '../../src/cluster/slow_links.js';
import { verdictText } from '../../src/report/verdict_text.js';
import { judge } from '../../src/verdict/judge.js';
import { suspects } from '../../src/verdict/facts/suspects.js';
import { faultsOf } from '../support/made_up/link_faults.js';
import { report } from './report.js';
import { done, evidence, s, type MadeUpRank } from './evidence.js';

const RANKS = 4;
const calls = Array.from({ length: 10 }, (_, seq) => done(seq, seq));
const ranks: MadeUpRank[] = Array.from({ length: RANKS }, () => ({ calls }));

/** A ring; `ms`: per sender, else 0.2. 100 sends each. */
const ring = (ms: Readonly<Record<number, number>>, sends = 100): ComparedLink[] =>
  ranks.map((_, rank) => ({
    commId: 1n,
    sisters: 'world',
    file: rank,
    source: rank,
    destination: (rank + 1) % RANKS,
    peerFile: (rank + 1) % RANKS,
    channel: 0,
    isWithinHost: false,
    sizes: [1e6 * (ms[rank] ?? 0.2)].map((ns) => ({
      ...{ bytes: 1 << 16, sends, medianNs: ns, quickNs: ns, ownNs: ns },
    })),
  }));

const verdictOf = (links: readonly ComparedLink[]) =>
  judge(evidence(ranks, { linkFaults: faultsOf(links, slowLinks(links)), end: 10 }));

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

  it.each<readonly [string, readonly ComparedLink[]]>([
    ['it costs little', ring({ 2: 30 })],
    ['it sent little', ring({ 2: 900 }, 15)],
    ['there are none like it', ring({ 2: 80 }).map((link) => ({ ...link, isWithinHost: link.file !== 2 }))],
    ['all are slow', ring({ 0: 80, 1: 80, 2: 80, 3: 80 })],
  ])('is not reported, where %s', (_, links) => {
    expect(verdictOf(links).kind).toBe('healthy');
  });
});

describe('a link that stands still once', () => {
  /** Rank 2 sends for 1.5 s in the sixth collective; `of`: the longest send of rank 0. */
  const stop = (of: number, length: number) => {
    const sends = [1.5, of].map((took, i) => ({
      ...{ commId: 1n, file: 2 - 2 * i, source: 2 - 2 * i, peerFile: 3 - 2 * i, channel: 0, step: 7 },
      ...{ from: s(5.005), to: s(5.005 + took), medianNs: 1e6, stops: { sends: 1, ns: took * 1e9 } },
    }));
    const long = calls.map((call) => (call.seq === 5 ? { ...call, end: 6.6 } : call));
    const all = [...long, ...Array.from({ length }, (_, i) => done(10 + i, 10 + i))];
    return judge(
      evidence(
        ranks.map(() => ({ calls: all })),
        { longestSends: sends, end: 10 + length },
      ),
    );
  };

  it('is what slows a short run', () => {
    expect(stop(0.1, 0)).toMatchObject({
      kind: 'slow',
      slow: { file: 2, link: { peerFile: 3, stopped: { step: 7, times: 1 } } },
    });
  });

  it('is told, but is no headline, where the run lost little by it', () => {
    const lines = verdictText(report(stop(0.1, 90), 4));
    const also = lines.findIndex((line) => line.startsWith('  also:'));
    expect(lines.slice(also, also + 2).map((line) => line.trim())).toEqual([
      'also:           STOOD STILL: on world, 2 to 3 ch 0 step 7, since 03:00:05 UTC,',
      'cost 1.5 s',
    ]);
    expect(stop(0.1, 90)).toMatchObject({
      kind: 'healthy',
      findings: [
        {
          rule: 'stood still',
          since: s(5.005),
          cost: 1.499e9,
          connection: { file: 2, peerFile: 3, step: 7 },
        },
      ],
    });
  });

  it('is not claimed where another rank stood still, too', () => {
    expect(stop(0.5, 0).findings).toEqual([]);
  });
});

describe('a link that stops again and again', () => {
  /** Of ranks 2, 0, 1 and 3: how often their sends stood still for 0.2 s. All collectives since the sixth take longer. */
  const stops = (...times: readonly number[]) => {
    const sends = times.map((count, i) => ({
      ...{ commId: 1n, file: [2, 0, 1, 3][i]!, source: [2, 0, 1, 3][i]!, peerFile: [3, 1, 2, 0][i]! },
      ...{ channel: 0, step: 7, from: s(5.005), to: s(5.205), medianNs: 1e6 },
      stops: { sends: count, ns: count * 2e8 },
    }));
    const long = calls.map((call, i) => (i >= 5 ? { ...call, end: i + 0.41 } : call));
    return judge(
      evidence(
        ranks.map(() => ({ calls: long })),
        { longestSends: sends, end: 10 },
      ),
    );
  };

  it('is named, with the number of its stops and what they cost', () => {
    expect(verdictText(report(stops(12, 0), 4)).slice(0, 5)).toEqual([
      'SLOW  rank 2 (node0 gpu2): 12 of its sends to rank 3 stood still, each for 200.0 ms',
      '  on:             world (4 ranks)',
      '  longest:        03:00:05 UTC, in AllReduce seq 5, record 0:5',
      '  step:           2 to 3, ch 0, step 7; usually 1.0 ms',
      '  cost:           2.0 s of 9.4 s',
    ]);
  });

  it('is named beside another one that does, if the others do not', () => {
    const lines = verdictText(report(stops(12, 10, 0, 0), 4)).map((line) => line.trim());
    expect(lines[0]).toBe(
      'SLOW  rank 2 (node0 gpu2): 12 of its sends to rank 3 stood still, each for 200.0 ms',
    );
    expect(lines).toContain('also:           STOOD STILL: on world, 0 to 1 ch 0 step 7, since 03:00:00 UTC,');
    expect(stops(12, 10, 6, 0).findings).toEqual([]);
  });

  it('is none where others stop, too, or where chance explains so few', () => {
    expect(stops(12, 6).findings).toEqual([]);
    expect(stops(5, 0).findings).toEqual([]);
  });
});
