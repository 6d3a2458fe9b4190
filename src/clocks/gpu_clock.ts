/**
 * A GPU's globaltimer on its host's clock. NCCL stamps a kernel on the GPU and the proxy thread notices later, so every KernelCh callback
 * says: offset ≤ callback time - pTimer. The lower envelope of these differences is the offset plus the shortest time of a notice (the
 * observation floor). Nothing can observe that time, and GPU times are late by it.
 *
 * One line under all points (the hull edge below the middle of the run), per GPU. Points come in order of callback time.
 */

import { minOf } from '../base/extremes.js';
import { localNs, type TraceNs } from '../base/time.js';
import { toTrace, type ClockMap } from './clock_map.js';

export interface GpuPoint {
  /** Callback time, LocalNs or ticks scaled to ns. */
  readonly x: number;
  /** Callback time minus pTimer, ns (relative to a base). */
  readonly y: number;
}

/** cpu - gpu at cpu time x: y = offset + drift * x. */
export interface GpuLine {
  readonly offset: number;
  readonly drift: number;
}

/** GPU timestamps on the trace's axis: gpu = cpu - offset - drift * cpu, solved for cpu. null: there is no evidence. */
export function gpuTime(line: GpuLine | null, map: ClockMap): ((at: number) => TraceNs) | null {
  if (line === null) return null;
  return (at) => toTrace(map, localNs((at + line.offset) / (1 - line.drift)));
}

/** The lower convex hull. It is updated while points arrive, and stays small in long runs. */
export class LowerHull<Point extends GpuPoint = GpuPoint> {
  private readonly hull: Point[] = [];

  /** A point whose `x` goes back is left out, because a notice out of order bounds nothing. */
  add(point: Point): void {
    const { hull } = this;
    const last = hull.at(-1);
    if (last !== undefined && point.x < last.x) return;
    if (last?.x === point.x) {
      if (last.y <= point.y) return;
      hull.pop();
    }
    while (hull.length >= 2 && !turnsLeft(hull[hull.length - 2]!, hull[hull.length - 1]!, point)) hull.pop();
    hull.push(point);
  }

  points(): readonly Point[] {
    return this.hull;
  }
}

/** GPU and host oscillators differ by ppm. A steeper edge shows that the run is too short. */
const MAX_DRIFT = 200e-6;
/** In a shorter run a slope would only show notice times. */
const MIN_SPAN_NS = 1e9;

/** The supporting line of the hull below the middle of its span; null without points. */
export function supportLine(hull: readonly GpuPoint[]): GpuLine | null {
  const first = hull[0];
  const last = hull.at(-1);
  if (!first || !last) return null;
  const middle = (first.x + last.x) / 2;
  const right = hull.findIndex((point) => point.x >= middle);
  const b = hull[right]!;
  const a = hull[right - 1] ?? b;
  const slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0;
  if (last.x - first.x < MIN_SPAN_NS || Math.abs(slope) > MAX_DRIFT) {
    return { offset: minOf(hull.map((point) => point.y)), drift: 0 };
  }
  return { offset: a.y - slope * a.x, drift: slope };
}

function turnsLeft(a: GpuPoint, b: GpuPoint, c: GpuPoint): boolean {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
}
