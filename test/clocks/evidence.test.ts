/** The summary of an edge forgets nothing that matters: held against all pairs, brute force. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EdgeCollector, sizeClass, type EdgeEvidence } from '../../src/clocks/evidence.js';
import { HullBuilder, lowerHull, lowestIndex } from '../../src/clocks/lower_hull.js';

type Pair = readonly [time: number, delay: number];

const pairs = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 90_000_000_000 }), fc.integer({ min: -1_000_000, max: 1_000_000_000 })),
  { minLength: 1, maxLength: 400 },
);

function collect(list: readonly Pair[], maxWindows?: number): EdgeEvidence {
  const collector = new EdgeCollector({ from: 0, to: 1, kind: 'data', like: 'x' }, maxWindows);
  for (const [time, delay] of list) collector.add(time, delay);
  return collector.finish();
}

const least = (list: readonly Pair[], slope: number): number =>
  Math.min(...list.map(([time, delay]) => delay - slope * time));

it('has the least delay of each window, and of the run, under any slope', () => {
  fc.assert(
    fc.property(pairs, fc.double({ min: -1e-3, max: 1e-3, noNaN: true }), (list, slope) => {
      const edge = collect(list, 16);
      let pairsSeen = 0;
      for (const { index, pairs: count, hull } of edge.windows) {
        const from = index * edge.windowNs;
        const inside = list.filter(([time]) => time >= from && time < from + edge.windowNs);
        const at = lowestIndex(hull, slope);
        expect(count).toBe(inside.length);
        expect(hull[at + 1]! - slope * hull[at]!).toBe(least(inside, slope));
        pairsSeen += count;
      }
      expect(pairsSeen).toBe(list.length);
      expect(edge.pairs).toBe(list.length);
    }),
  );
});

it('keeps a bounded number of windows, whatever the length of the run', () => {
  fc.assert(
    fc.property(pairs, fc.integer({ min: 1, max: 40 }), (list, maxWindows) => {
      expect(collect(list, maxWindows).windows.length).toBeLessThanOrEqual(maxWindows);
    }),
  );
});

it('does not depend on the order of the pairs', () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const sorted = [...list].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(collect(list, 16)).toEqual(collect(sorted, 16));
    }),
  );
});

it('has a hull of few points: a million pairs of a minute', () => {
  const edge = new EdgeCollector({ from: 0, to: 1, kind: 'data', like: 'x' });
  let state = 1;
  for (let i = 0; i < 1_000_000; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    edge.add(i * 60_000, 10_000 + (state >>> 12));
  }
  const { windows } = edge.finish();
  expect(windows.length).toBeLessThanOrEqual(512);
  expect(Math.max(...windows.map(({ hull }) => hull.length / 2))).toBeLessThan(40);
});

it('touches every line from below: no point lies under the hull', () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const hull = lowerHull(list.flat());
      for (const [time, delay] of list) {
        const right = hull.findIndex((x, i) => i % 2 === 0 && x >= time);
        if (hull[right] === time) expect(hull[right + 1]).toBeLessThanOrEqual(delay);
        else {
          const [ax, ay, bx, by] = hull.slice(right - 2, right + 2) as [number, number, number, number];
          expect(ay + ((by - ay) * (time - ax)) / (bx - ax)).toBeLessThanOrEqual(delay + 1e-3);
        }
      }
    }),
  );
});

it('names size classes as a person would', () => {
  expect([1, 8192, 8193, 65_536, 65_537, 1 << 20, 1 << 30].map(sizeClass)).toEqual([
    'up to 8 KiB',
    'up to 8 KiB',
    'up to 64 KiB',
    'up to 64 KiB',
    'up to 91 KiB',
    'up to 1024 KiB',
    'larger',
  ]);
});

it('has a hull of two hulls that is the hull of all, bent or straight', () => {
  fc.assert(
    fc.property(pairs, pairs, fc.constantFrom(0, 1e-14), (a, b, curvature) => {
      const hull = (list: readonly Pair[]): number[] => lowerHull(list.flat(), curvature);
      const builder = new HullBuilder(curvature).append([0, 0]).clear();
      expect([...builder.appendBoth(hull(a), hull(b)).hull()]).toEqual(hull([...a, ...b]));
      const bent = hull(a);
      const straight = lowerHull(a.flat());
      for (let i = 0; i < straight.length; i += 2) expect(bent).toContain(straight[i]);
    }),
  );
});
