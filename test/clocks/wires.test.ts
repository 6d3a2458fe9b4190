/** What counts as a wire, how wires share their errors, and what is made of how alike they show themselves. */

import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { align } from '../../src/clocks/alignment.js';
import { EARLY_ARRIVAL, isCertain, WAITED_CREDIT, type EdgeEvidence } from '../../src/clocks/evidence.js';
import { linksOf, statedSigmas } from '../../src/clocks/links.js';
import { collectEvidence, type EvidenceSource } from '../../src/clocks/evidence/clock_evidence.js';
import {
  checkAll,
  normal,
  ring,
  seeded,
  simulate,
  type SimulatedLink,
} from '../support/clocks/simulated_links.js';
import { writeSteps } from '../support/made_up/step_rows.js';
import { temporaryFolder } from '../support/program/temporary_folder.js';

const HOSTS = 6;

/** A ring and its credits; both spread by `spread` of themselves. */
function ringWithCredits(seed: number, spread: number): SimulatedLink[] {
  const random = seeded(seed);
  const of = (base: number): number => base * Math.max(0.3, 1 + spread * normal(random));
  const data = ring(HOSTS, () => of(14_000));
  const credits = data.map(({ from, to }): SimulatedLink => {
    return { from: to, to: from, delay: of(8000), kind: 'credit', like: WAITED_CREDIT };
  });
  return [...data, ...credits];
}

function solve(links: readonly SimulatedLink[], seed: number) {
  const run = simulate({ seed, hosts: HOSTS, links, seconds: 20, perMinute: 1200 });
  const alignment = align(HOSTS, run.edges);
  return { alignment, checks: checkAll(run, alignment) };
}

describe('credits that were waited for', () => {
  it('show how alike wires are, which the 99 % bound uses with room', () => {
    for (let seed = 1; seed <= 4; seed++) {
      const { alignment, checks } = solve(ringWithCredits(seed, 0.05), seed);
      const { stated, measured, used } = alignment.alike;
      expect(measured).toBeGreaterThan(0);
      expect(used).toBeGreaterThan(measured!);
      expect(used).toBeLessThan(stated);
      for (const { insideHard, insideLikely } of checks)
        expect([insideHard, insideLikely]).toEqual([true, true]);
    }
  });

  it('widen the 99 % bound where wires are less alike than stated', () => {
    const { alignment } = solve(ringWithCredits(3, 0.05), 3);
    const unlike = solve(
      ringWithCredits(3, 0.05).map((link, i) => ({ ...link, delay: link.delay * (i % 2 === 0 ? 3 : 0.3) })),
      3,
    );
    expect(unlike.alignment.alike.used).toBeGreaterThan(unlike.alignment.alike.stated);
    expect(unlike.alignment.alike.used).toBe(unlike.alignment.alike.measured);
    expect(unlike.alignment.likely(0, 3, 0)).toBeGreaterThan(2 * alignment.likely(0, 3, 0));
  });

  it('distinguish a slow link of a ring from a wrong clock: the link is named', () => {
    const links = ringWithCredits(7, 0.05).map((link) =>
      link.from === 2 && link.to === 3 ? { ...link, delay: link.delay + 40_000 } : link,
    );
    const { alignment, checks } = solve(links, 7);
    expect(new Set(alignment.unlike.map(({ from, to }) => `${from} ${to}`))).toEqual(new Set(['2 3']));
    for (const { error } of checks) expect(Math.abs(error)).toBeLessThan(10_000); // 13 to 40 µs without them
  });
});

describe('the likenesses of one wire', () => {
  const edge = (like: string, delay: number): EdgeEvidence => {
    const hull = Array.from({ length: 16 }, (_, i) => [i * 1e9, delay]).flat();
    return {
      from: 0,
      to: 1,
      kind: 'data',
      like,
      pairs: 1600,
      windowNs: 20e9,
      windows: [{ index: 0, pairs: 1600, hull }],
    };
  };
  const together = (edges: readonly EdgeEvidence[]): number => {
    const { links } = linksOf(edges);
    const delays = new Map(edges.map(({ like, windows }) => [like, windows[0]!.hull[1]!]));
    const sigmas = statedSigmas(
      links,
      (link) => delays.get(link.edge.like)!,
      { part: 0.35, atMost: Infinity },
      () => 0,
    );
    return sigmas.reduce((sum, sigma) => sum + sigma ** -2, 0) ** -0.5;
  };

  it('say as much together as the best of them, whatever they are', () => {
    const best = together([edge('small', 10_000)]);
    expect(best).toBeGreaterThan(0.35 * 10_000);
    for (const others of [[10_000], [10_000, 10_000], [30_000, 100_000, 300_000]]) {
      const all = [edge('small', 10_000), ...others.map((delay, i) => edge(`other ${i}`, delay))];
      expect(together(all) / best).toBeCloseTo(1, 1);
    }
  });
});

describe('transfers of a recording', () => {
  const { folder, remove } = temporaryFolder();
  afterAll(remove);

  /** Of the sender's steps, how often each was turned away; of either end, STEP_ROW.arrives. */
  interface Told {
    readonly polls?: (step: number) => number;
    readonly arrives?: number;
  }

  /** One end of ten transfers. */
  function source(name: string, isSend: boolean, { polls = () => 1, arrives = 1 }: Told): EvidenceSource {
    const steps = Array.from({ length: 10 }, (_, step) => {
      const start = step * 1e6;
      const [before, seen, stop] = isSend
        ? [start + 1000, start + 2000, 0]
        : [start, start + 9000, start + 9500];
      return { step, bytes: 4096, check: 77, before, seen, stop, polls: isSend ? polls(step) : 0, arrives };
    });
    const header = { process: { bootId: name }, tickSource: 'tsc' };
    const end = writeSteps(join(folder, name), isSend, steps);
    return { ...end, header } as unknown as EvidenceSource;
  }

  function found(kind: EdgeEvidence['kind'], send: Told, receive: Told = {}) {
    const sources = [source('send', true, send), source('receive', false, receive)];
    const axes = {
      scales: [0, 1].map(() => ({ offset: 0, nsPerTick: 1 })),
      domainOf: [0, 1],
      coarse: [0, 0],
      names: ['a', 'b'],
      missing: new Map(),
    };
    return collectEvidence(sources, axes)
      .edges.filter((edge) => edge.kind === kind)
      .map((edge) => [edge.like, edge.pairs, isCertain(edge)]);
  }

  it("give credits that are a wire's where their sender was seen to wait, and else are not known to be", () => {
    expect(found('credit', {})).toEqual([['credit', 10, false]]);
    expect(found('credit', { polls: () => 0 })).toEqual([['credit', 10, false]]); // before interface v4
    expect(found('credit', { polls: () => 3 })).toEqual([[WAITED_CREDIT, 10, true]]);
  });

  it('give credits that are certain on a link that turned one sender away, but only that one is a wire', () => {
    expect(found('credit', { polls: (step) => (step === 4 ? 2 : 1) })).toEqual([
      ['credit', 9, true],
      [WAITED_CREDIT, 1, true],
    ]);
  });

  it('arrive where the protocol says so at one end; where no end knows it they are over when consumed', () => {
    const sure = [['data up to 8 KiB', 10, true]];
    const consumed = ['data until consumed, up to 8 KiB', 10, true];
    const early = [[`${EARLY_ARRIVAL} up to 8 KiB`, 10, false], consumed];
    const simple: Told = { arrives: 1 };
    const other: Told = { arrives: 0 };
    const lost: Told = { arrives: -1 };
    expect(found('data', simple, simple)).toEqual(sure);
    expect(found('data', simple, lost)).toEqual(sure);
    expect(found('data', lost, simple)).toEqual(sure);
    expect(found('data', other, lost)).toEqual(early);
    expect(found('data', lost, lost)).toEqual([consumed]);
  });
});
