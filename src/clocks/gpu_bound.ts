/**
 * Hard error of a GPU's times on its host's clock. A stamp is taken before the host notices it, and after the call that launched its
 * kernel. So the GPU's timer is a clock with evidence in both directions, like a host. Nothing can observe the shortest notice and the
 * shortest launch. Both lie inside the bound. A timer with steps shows up to one step too little. It is assumed that a stamp belongs to its
 * kernel. Contradicting stamps were dropped before.
 */

import { maxOf, minOf } from '../base/extremes.js';
import { HardBounds } from './bounds.js';
import { placeKnots } from './corrections.js';
import type { GpuLine } from './gpu_clock.js';
import { lowerHull } from './lower_hull.js';

/** A host's time and a GPU's, ns each: a stamp and when it was noticed, or when its kernel's launch was called. */
export interface GpuMoment {
  readonly host: number;
  readonly gpu: number;
}

/** Error of drawn times against the host's clock, the worst of the run, ns; Infinity: unbounded. */
export interface GpuBound {
  readonly late: number;
  readonly early: number;
}

/** A timer may count in steps of this many ns, even if its stamps share no larger step. */
export const USUAL_STEP_NS = 1024;

/** `step`: all stamps differ by multiples of this, ns. `curvature`: most that either clock's rate changes, 1/ns. */
export function gpuBound(
  line: GpuLine,
  noticed: readonly GpuMoment[],
  launched: readonly GpuMoment[],
  step: number,
  curvature: number,
): GpuBound {
  const grain = Math.max(step, USUAL_STEP_NS);
  const drawn = (gpu: number): number => (gpu + line.offset) / (1 - line.drift);
  // Puts the timer on an axis near the host's, by the line's correction.
  const base = line.offset;
  const possible = launched.filter(({ host, gpu }) => drawn(gpu) + grain >= host);
  // If half of the relevant stamps contradict, they are often of other kernels and prove nothing on this side.
  const believed = 2 * possible.length < launched.length ? [] : possible;
  const times = [...noticed, ...believed].flatMap(({ host, gpu }) => [host, gpu + base]);
  if (times.length === 0) return { late: Infinity, early: Infinity };
  const [first, last] = [minOf(times), maxOf(times)];
  const knots = placeKnots(first, last, GRID_NS);
  const corrections = Float64Array.from({ length: knots.count }, (_, k) => {
    const shown = knots.first + k * knots.step;
    return drawn(shown - base) - shown;
  });
  const notices = noticed.flatMap(({ host, gpu }) => [gpu + base, host - gpu - base]);
  const launches = believed.flatMap(({ host, gpu }) => [host, gpu + grain + base - host]);
  const hulls = [
    { from: GPU, to: HOST, hull: lowerHull(notices, curvature) },
    { from: HOST, to: GPU, hull: lowerHull(launches, curvature) },
  ].filter(({ hull }) => hull.length > 0);
  const bounds = new HardBounds(
    [HOST, HOST],
    hulls,
    knots,
    [new Float64Array(knots.count), corrections],
    curvature,
  );
  let late = 0;
  let early = 0;
  for (let span = 0; span + 1 < bounds.spans.count; span++) {
    const { below, above } = bounds.between(GPU, HOST, span);
    late = Math.max(late, below);
    early = Math.max(early, above);
  }
  return { late, early: early + grain };
}

/** Knots lie on multiples of this: at most so far beyond the first and last stamps. */
const GRID_NS = 1e6;
const HOST = 0;
const GPU = 1;
