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

/** The lower convex hull. It is updated while points arrive, and stays small in long runs. Nothing is allocated for a point. */
export class LowerHull {
  private readonly x: number[] = [];
  private readonly y: number[] = [];
  private readonly tick: number[] = [];
  private readonly gpu: number[] = [];

  /** A point whose `x` goes back is left out, because a notice out of order bounds nothing. `tick`, `gpu`: the stamp behind it. */
  add(x: number, y: number, tick = NaN, gpu = NaN): void {
    const last = this.x.length - 1;
    if (last >= 0 && x < this.x[last]!) return;
    if (last >= 0 && x === this.x[last]) {
      if (this.y[last]! <= y) return;
      this.pop();
    }
    while (this.x.length >= 2 && !this.turnsLeft(x, y)) this.pop();
    this.x.push(x);
    this.y.push(y);
    this.tick.push(tick);
    this.gpu.push(gpu);
  }

  points(): GpuPoint[] {
    return this.x.map((x, i) => ({ x, y: this.y[i]! }));
  }

  stamps(): { readonly tick: number; readonly gpu: number }[] {
    return this.tick.map((tick, i) => ({ tick, gpu: this.gpu[i]! }));
  }

  private pop(): void {
    this.x.pop();
    this.y.pop();
    this.tick.pop();
    this.gpu.pop();
  }

  /** Whether the last point stays on the hull if (x, y) follows. */
  private turnsLeft(x: number, y: number): boolean {
    const last = this.x.length - 1;
    const ax = this.x[last - 1]!;
    const ay = this.y[last - 1]!;
    return (this.x[last]! - ax) * (y - ay) - (this.y[last]! - ay) * (x - ax) > 0;
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
