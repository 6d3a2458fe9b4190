/**
 * The only way from a host's clock to the trace's. A clock domain shares one counter (one boot, one tick source). Its `ClockMap` is a
 * continuous, strictly rising, piecewise-linear function LocalNs → TraceNs with a bound per segment. An unbounded side is Infinity, never
 * an invented number. Pure functions and plain data, so a worker thread can receive a ClockMap.
 */

import { firstIndex } from '../base/first_index.js';
import { traceNsFromClockMap, type LocalNs, type TraceNs } from '../base/time.js';

/** The basis of a segment. */
export type ClockSource =
  /** The only domain of the run: one counter, nothing to align. */
  | 'own-counter'
  /** Aligned by the traffic between hosts (alignment.ts); bounds are against the group's reference. */
  | 'traffic'
  /** Placed by its host's CLOCK_REALTIME alone, with NTP's error. */
  | 'realtime';

export interface ClockSegment {
  /** Valid on [from, to); the first reaches back and the last forward without limit. */
  readonly from: LocalNs;
  readonly to: LocalNs;
  /** trace = local + offset + drift * (local - from) */
  readonly offset: number;
  /** Dimensionless: 1e-6 is one ppm. */
  readonly drift: number;
  /** Worst case of |error| against the reference domain, ns; Infinity: no evidence limits it. */
  readonly hardBound: number;
  /** 99 % bound, ns; Infinity: not even an assumption gives one. */
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
  return toTraceIn(segmentAt(map, local), local);
}

/** For a time that lies in this segment. */
export const toTraceIn = ({ offset, drift, from }: ClockSegment, local: LocalNs): TraceNs =>
  traceNsFromClockMap(Math.round(local + offset + drift * (local - from)));

/** The 99 % bound of |error| at a time of the trace, ns: of the piece that holds it. */
export function bound99At({ segments }: ClockMap): (at: TraceNs) => number {
  const starts = segments.map(({ from, offset }) => Math.round(from + offset));
  return (at) => {
    let piece = segments.length - 1;
    while (piece > 0 && !(starts[piece]! <= at)) piece--;
    return segments[piece]!.bound99;
  };
}

/** A segment as far as it lies within a trace of that duration (ns). */
export interface MapPiece {
  readonly from: TraceNs;
  readonly to: TraceNs;
  readonly segment: ClockSegment;
}

/** The outer segments reach to the ends of the trace. */
export function mapPieces({ segments }: ClockMap, duration: number): MapPiece[] {
  let last = 0;
  // A piece ends where the next one begins. If its end were rounded separately, it would differ: by 256 ns if a wall clock is decades off.
  const starts = segments.map((segment, i) => {
    last = Math.max(last, i === 0 ? 0 : toTraceIn(segment, segment.from));
    return last;
  });
  return segments
    .map((segment, i) => ({
      from: withinTrace(starts[i]!, duration),
      to: withinTrace(starts[i + 1] ?? duration, duration),
      segment,
    }))
    .filter(({ from, to }) => to > from);
}

/** The nearest time that a trace of that duration has. */
export const withinTrace = (at: number, duration: number): TraceNs =>
  traceNsFromClockMap(Math.min(Math.max(at, 0), duration));

export function segmentAt({ segments }: ClockMap, local: LocalNs): ClockSegment {
  const behind = firstIndex(segments.length, (i) => segments[i]!.from > local);
  return segments[Math.max(0, behind - 1)]!;
}
