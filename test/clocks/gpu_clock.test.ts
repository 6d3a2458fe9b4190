/** The one-sided envelope: GPU stamps are early, their notices late by at least a floor. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { supportLine, type GpuLine } from '../../src/clocks/gpu_clock.js';
import { lowerHull } from '../../src/clocks/lower_hull.js';

interface GpuPoint {
  readonly x: number;
  readonly y: number;
}

function lineOf(points: readonly GpuPoint[]): GpuLine {
  const line = supportLine(lowerHull(points.flatMap(({ x, y }) => [x, y])));
  if (!line) throw new Error('no line');
  return line;
}

/** Kernels every 10 ms for `seconds`; cpu = gpu + offset + drift * cpu; noticed after floor + exponential delay. */
function notices(
  seconds: number,
  offset: number,
  drift: number,
  floor: number,
  random: () => number,
): GpuPoint[] {
  return Array.from({ length: seconds * 100 }, (_, i) => {
    const stamped = i * 1e7;
    const delay = floor - Math.log(1 - random()) * 20_000;
    return { x: stamped + delay, y: offset + drift * stamped + delay };
  });
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

it('lies below every notice and above the truth by little more than the floor', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 31 }),
      fc.integer({ min: -1e9, max: 1e9 }),
      fc.double({ min: -50e-6, max: 50e-6, noNaN: true }),
      (seed, offset, drift) => {
        const points = notices(20, offset, drift, 1500, seeded(seed));
        const line = lineOf(points);
        expect(points.filter(({ x, y }) => line.offset + line.drift * x > y + 1)).toEqual([]);
        const middle = 10e9;
        const error = line.offset + line.drift * middle - (offset + drift * middle);
        expect(error).toBeGreaterThan(1000);
        expect(error).toBeLessThan(6000);
      },
    ),
    { numRuns: 40 },
  );
});

it('has no slope where a run is too short to see one', () => {
  const points = notices(1, 5000, 0, 100, seeded(1)).slice(0, 20);
  const line = lineOf(points);
  expect(line.drift).toBe(0);
  expect(line.offset).toBe(Math.min(...points.map((point) => point.y)));
});

it('takes a single notice, and says nothing about none', () => {
  expect(lineOf([{ x: 5, y: 7 }])).toEqual({ offset: 7, drift: 0 });
  expect(supportLine([])).toBeNull();
});
