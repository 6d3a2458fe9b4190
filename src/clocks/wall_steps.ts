/**
 * Finds when a host's wall clock was set: between two samples it advanced by another time than the counter. The trace does not follow such
 * a step. But people who compare the trace with that host's logs must know it.
 */

import type { LocalNs } from '../base/time.js';
import type { ClockSample } from '../rankfile/file_types.js';
import { toLocal, type TickScale } from './domains.js';

export interface WallStep {
  /** Tick of the first sample after the step. It happened since the sample before. */
  readonly at: LocalNs;
  /** How far the wall clock was set, ns; negative: back. */
  readonly by: number;
}

/** Smaller steps are not reported. */
const SMALLEST_NS = 1e6;
/** NTP changes a clock's rate by 500 ppm at most. The counter's nominal rate may be wrong by as much. */
const FASTEST_SLEW = 1e-3;

/** `files`: of one domain. Samples that took long to read may be off by as much. */
export function wallSteps(
  files: readonly { readonly scale: TickScale; readonly samples: readonly ClockSample[] }[],
): WallStep[] {
  const base = files[0]?.samples[0]?.realtime ?? 0n;
  const points = files
    .flatMap(({ scale, samples }) =>
      samples.map(({ tick, realtime, width }) => ({
        x: toLocal(scale, tick),
        y: Number(realtime - base),
        width: width * scale.nsPerTick,
      })),
    )
    .sort((a, b) => a.x - b.x);
  return points.slice(1).flatMap((point, i) => {
    const before = points[i]!;
    const passed = point.x - before.x;
    const by = point.y - before.y - passed;
    const allowed = SMALLEST_NS + FASTEST_SLEW * passed + point.width + before.width;
    return Math.abs(by) > allowed ? [{ at: point.x, by: Math.round(by) }] : [];
  });
}
