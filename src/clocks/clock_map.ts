/**
 * The one door from a host's clock to the trace's. A clock domain is what shares one counter (one boot, one tick
 * source); its `ClockMap` is a continuous, strictly rising, piecewise-linear function LocalNs → TraceNs with a bound per
 * segment. An unbounded side is Infinity, never a number made up.
 *
 * Pure functions and plain data: a ClockMap travels to a worker thread as it is.
 */

import { traceNsFromClockMap, type LocalNs, type TraceNs } from '../base/time.js';

/** What a segment rests on. */
export type ClockSource =
  /** The only domain of the run: relative times come from one counter, nothing had to be aligned. */
  | 'own-counter'
  /** Aligned by the traffic between hosts (alignment.ts); bounds are against the group's reference. */
  | 'traffic'
  /** Placed by its host's CLOCK_REALTIME alone: as wrong as NTP is. */
  | 'realtime';

export interface ClockSegment {
  /** Valid on [from, to); the first reaches back and the last forward without limit. */
  readonly from: LocalNs;
  readonly to: LocalNs;
  /** trace = local + offset + drift * (local - from) */
  readonly offset: number;
  /** Dimensionless: 1e-6 is one ppm. */
  readonly drift: number;
  /** Worst case of |error| against the reference domain, ns; Infinity where evidence sets no limit. */
  readonly hardBound: number;
  /** 99 % bound, ns; Infinity where not even an assumption gives one. */
  readonly bound99: number;
  readonly source: ClockSource;
  readonly flags: readonly string[];
}

export interface ClockMap {
  readonly domain: string;
  readonly segments: readonly ClockSegment[];
}

/** Rounds to whole nanoseconds: traces have no finer ones, and equal ticks must stay equal. */
export function toTrace(map: ClockMap, local: LocalNs): TraceNs {
  const segment = segmentAt(map, local);
  return traceNsFromClockMap(Math.round(local + segment.offset + segment.drift * (local - segment.from)));
}

export function segmentAt(map: ClockMap, local: LocalNs): ClockSegment {
  const { segments } = map;
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (segments[middle]!.from <= local) low = middle;
    else high = middle - 1;
  }
  return segments[low]!;
}
