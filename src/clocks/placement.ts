/**
 * Places an aligned group on the absolute axis, and judges its hosts' wall clocks. All of the group's REALTIME samples count, by medians.
 * So a step or slew of some hosts moves nothing. Nothing here bends relative times.
 */

import { median } from '../base/median.js';
import type { Point } from './fit.js';

/** Absolute = offset + (1 + drift) * axis, ns. */
export interface Placement {
  readonly offset: number;
  readonly drift: number;
}

/** One host's wall clock against the placed axis. */
export interface WallClock {
  /** Largest distance of a sample from the host's own median, ns: how far it was stepped or slewed. */
  readonly restless: number;
  /** Its rate against the axis, beyond 1. */
  readonly drift: number;
  /** Its median against the axis, ns. */
  readonly offset: number;
}

/** Over a shorter span a rate would show only read-out noise. */
const MIN_SPAN_NS = 2e9;
/** No crystal drifts by more, so NTP was slewing that wall clock. */
export const SLEWED = 200e-6;

/** Per host the samples: x on the group's axis, y the wall clock. */
export function place(hosts: readonly (readonly Point[])[]): Placement {
  const slopes = hosts.flatMap((points) => {
    const slope = medianSlope(points);
    return slope !== null && Math.abs(slope) < SLEWED ? [slope] : [];
  });
  const drift = median(slopes) ?? 0;
  const offset = median(hosts.map((points) => median(points.map(({ x, y }) => y - x - drift * x))!))!;
  return { offset, drift };
}

export function wallClock(points: readonly Point[], { offset, drift }: Placement): WallClock {
  const rest = points.map(({ x, y }) => y - x - drift * x - offset);
  const middle = median(rest)!;
  return {
    restless: rest.reduce((worst, r) => Math.max(worst, Math.abs(r - middle)), 0),
    drift: (medianSlope(points) ?? drift) - drift,
    offset: middle,
  };
}

/** The median slope of y - x, between samples half a run apart. null: the run is too short. */
function medianSlope(points: readonly Point[]): number | null {
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const half = sorted.length >> 1;
  if (half === 0 || sorted.at(-1)!.x - sorted[0]!.x < MIN_SPAN_NS) return null;
  const slopes = sorted.slice(0, sorted.length - half).map((a, i) => {
    const b = sorted[i + half]!;
    return (b.y - a.y - (b.x - a.x)) / (b.x - a.x);
  });
  return median(slopes)!;
}
