/** A GPU's times lie inside their bound: floor, launch and steps of the timer included. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { gpuBound, type GpuMoment } from '../../src/clocks/gpu_bound.js';
import { supportLine } from '../../src/clocks/gpu_clock.js';
import { GpuVotes } from '../../src/clocks/gpu_votes.js';
import { HullCollector } from '../../src/clocks/lower_hull.js';
import { TimerSteps } from '../../src/scan/timer_steps.js';
import { seeded, type Random } from '../support/clocks/simulated_links.js';
import { inTier } from '../support/tiers/tier.js';

/** 0.1 ppm a minute, 1/ns. */
const CURVATURE = 1e-7 / 60e9;

interface Gpu {
  readonly seconds: number;
  readonly floor: number;
  readonly launch: number;
  readonly step: number;
  /** Part of the stamps that are those of the kernel before. */
  readonly stale?: number;
  /** Of the stamp in the middle: so much earlier than its timer said, ns. */
  readonly garbage?: number;
}

/** Kernels every 10 ms, stamped and noticed, through the sieve that the scan uses. */
function record({ seconds, floor, launch, step, stale = 0, garbage = 0 }: Gpu, random: Random) {
  const offset = (random() - 0.5) * 1e9;
  const drift = (random() - 0.5) * 100e-6;
  const bend = (2 * random() - 1) * CURVATURE;
  const late = (mean: number): number => -mean * Math.log(1 - random());
  const timer = (time: number): number => time - offset - drift * time - (bend * time * time) / 2;
  const notices = new HullCollector();
  const launches = new HullCollector();
  const steps = new TimerSteps();
  const votes = new GpuVotes({
    accepted: (columns, i, isTooEarly) => {
      const [noticed, earliest, gpu] = [columns.noticed[i]!, columns.earliest[i]!, columns.gpu[i]!];
      notices.add(noticed, noticed - gpu);
      if (isTooEarly) return;
      steps.seen(gpu);
      launches.add(earliest, gpu - earliest);
    },
  });
  const stamps: { readonly time: number; readonly gpu: number }[] = [];
  for (let i = 0; i < seconds * 100; i++) {
    const time = (i + 1) * 1e7;
    const gpu = Math.floor(timer(time) / step) * step;
    const isGarbage = i === seconds * 50;
    const isStale = random() < stale;
    const wrong = isStale ? Math.floor(timer(time - 1e7) / step) * step : isGarbage ? gpu - garbage : gpu;
    stamps.push({ time, gpu });
    votes.add([time + floor + late(20_000), time - launch - late(50_000), wrong, NaN], 0);
  }
  votes.finish();
  const line = supportLine(notices.hull())!;
  const moments = (points: HullCollector, sign: 1 | -1): GpuMoment[] => {
    const hull = points.hull();
    return Array.from({ length: hull.length / 2 }, (_, i) => ({
      host: hull[2 * i]!,
      gpu: Math.round(hull[2 * i]! + sign * hull[2 * i + 1]!),
    }));
  };
  const bound = gpuBound(line, moments(notices, -1), moments(launches, 1), steps.step(), CURVATURE);
  const errors = stamps.map(({ time, gpu }) => (gpu + line.offset) / (1 - line.drift) - time);
  return { bound, latest: Math.max(...errors), earliest: Math.min(...errors), step: steps.step() };
}

it('holds for clocks that bend, timers that step, and any floor and launch', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e9 }),
      fc.record({
        seconds: fc.integer({ min: 1, max: 90 }),
        floor: fc.integer({ min: 0, max: 20_000 }),
        launch: fc.integer({ min: 0, max: 20_000 }),
        step: fc.constantFrom(1, 32, 1000, 1024, 4096),
      }),
      (seed, gpu) => {
        const { bound, latest, earliest, step } = record(gpu, seeded(seed));
        expect(step % gpu.step).toBe(0);
        expect(latest).toBeLessThanOrEqual(bound.late + 0.1);
        expect(earliest).toBeGreaterThanOrEqual(-bound.early - 0.1);
      },
    ),
    { numRuns: inTier({ first: 10, long: 300 }) },
  );
});

it('knows the step of the timer although a stamp is garbage, whether that is dropped or not', () => {
  for (const garbage of [12_345, -5_000_001, 5_000_001]) {
    const gpu = { seconds: 20, floor: 20_000, launch: 20_000, step: 4096, garbage };
    const { bound, latest, earliest, step } = record(gpu, seeded(7));
    expect(step).toBe(4096);
    expect(latest).toBeLessThanOrEqual(bound.late + 0.1);
    expect(earliest).toBeGreaterThanOrEqual(-bound.early - 0.1);
  }
});

it('is about as wide as floor, launch and step together', () => {
  const { bound, latest } = record({ seconds: 60, floor: 3000, launch: 5000, step: 1000 }, seeded(5));
  expect(latest).toBeGreaterThan(2500);
  expect(bound.late).toBeGreaterThan(7000);
  expect(bound.late).toBeLessThan(25_000);
  expect(bound.early).toBeLessThan(20_000);
});

it('is not narrowed by stamps of other kernels, and is unbounded on a side without evidence', () => {
  const { bound, latest } = record(
    { seconds: 20, floor: 3000, launch: 5000, step: 32, stale: 0.05 },
    seeded(6),
  );
  expect(latest).toBeLessThanOrEqual(bound.late);
  expect(bound.late).toBeLessThan(Infinity);
  const line = { offset: 5, drift: 0 };
  expect(gpuBound(line, [{ host: 15, gpu: 10 }], [], 0, CURVATURE).late).toBe(Infinity);
  expect(gpuBound(line, [{ host: 15, gpu: 10 }], [], 0, CURVATURE).early).toBeLessThan(2000);
});

it('is found as quickly for stamps that lie decades apart, as those of a timer that cannot be trusted', () => {
  const decades = 75 * 365 * 86_400e9;
  const noticed = [
    { host: 5000, gpu: -decades },
    { host: 8000, gpu: 0 },
  ];
  const { late, early } = gpuBound({ offset: 8000, drift: 0 }, noticed, [], 32, CURVATURE);
  expect(late).toBe(Infinity);
  expect(early).toBeGreaterThanOrEqual(0);
});
