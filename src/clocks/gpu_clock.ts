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
import type { PointList } from './lower_hull.js';

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

/** GPU and host oscillators differ by ppm. A steeper edge shows that the run is too short. */
const MAX_DRIFT = 200e-6;
/** In a shorter run a slope would only show notice times. */
const MIN_SPAN_NS = 1e9;

/** The supporting line below the middle of a hull of x (callback time, ns) and y (callback time minus pTimer, ns); null without points. */
export function supportLine(hull: PointList): GpuLine | null {
  if (hull.length === 0) return null;
  const [first, last] = [hull[0]!, hull.at(-2)!];
  let right = 0;
  while (hull[right]! < (first + last) / 2) right += 2;
  const left = Math.max(0, right - 2);
  const [ax, ay, bx, by] = [hull[left]!, hull[left + 1]!, hull[right]!, hull[right + 1]!];
  const slope = bx > ax ? (by - ay) / (bx - ax) : 0;
  if (last - first < MIN_SPAN_NS || Math.abs(slope) > MAX_DRIFT)
    return { offset: minOf(Array.from(hull).filter((_, i) => i % 2 === 1)), drift: 0 };
  return { offset: ay - slope * ax, drift: slope };
}
