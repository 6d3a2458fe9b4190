/**
 * A domain's correction to the run's common axis: one continuous piecewise-linear function per domain, all with the same knots. The outer
 * pieces continue beyond the first and last knot.
 */

export interface Knots {
  readonly first: number;
  /** Distance of neighbours, ns. */
  readonly step: number;
  /** At least 2. */
  readonly count: number;
}

/** Over this time, a clock whose rate changes by 3 ppm a minute leaves a straight line by 0.2 µs. Closer knots would show nothing more. */
const SHORTEST_PIECE_NS = 5e9;
/**
 * Knots are at most this far apart, unless windows of evidence are wider. When the temperature changes, a line over five minutes is 5 to 12
 * µs wrong.
 */
const LONGEST_PIECE_NS = 60e9;
/**
 * Work and memory grow with the number of pieces. A link's evidence has at most half as many windows. So more pieces arise only from times
 * far apart with nothing between them, such as impossible times of a timer or a tick, which may be decades away.
 */
const MOST_PIECES = 1024;

/**
 * Knots over [from, to], on multiples of `grid`, so that no window of evidence lies across a knot. At most 1025. They are closer than
 * `LONGEST_PIECE_NS` if that makes no more than `affordable` pieces.
 */
export function placeKnots(from: number, to: number, grid: number, affordable = 0): Knots {
  const first = Math.floor(from / grid);
  const cells = Math.max(1, Math.ceil(to / grid) - first);
  const piecesOf = (ns: number): number => Math.ceil(cells / Math.max(1, Math.floor(ns / grid)));
  const wanted = Math.max(piecesOf(LONGEST_PIECE_NS), Math.min(affordable, piecesOf(SHORTEST_PIECE_NS)));
  const pieces = Math.min(MOST_PIECES, wanted);
  const step = Math.ceil(cells / pieces);
  return { first: first * grid, step: step * grid, count: Math.ceil(cells / step) + 1 };
}

/** Bounds hold for spans of a piece, because a clock is known better near good evidence than elsewhere in the piece. */
const LONGEST_SPAN_NS = 12e9;
/** Each span has bounds of its own in memory and a slice in the trace, so in long runs a whole piece is a span. */
const MANY_SPANS = 400;

/** Divides each piece into equally many spans; their ends are knots. */
export function spansOf({ first, step, count }: Knots): Knots {
  const pieces = count - 1;
  const affordable = Math.max(1, Math.floor(MANY_SPANS / pieces));
  const spans = Math.min(affordable, Math.ceil(Math.min(step, LONGEST_PIECE_NS) / LONGEST_SPAN_NS));
  return { first, step: step / spans, count: pieces * spans + 1 };
}

export const knotTime = ({ first, step }: Knots, knot: number): number => first + step * knot;

/** The piece that holds `time`. */
export function pieceAt({ first, step, count }: Knots, time: number): number {
  return Math.min(count - 2, Math.max(0, Math.floor((time - first) / step)));
}

/** Where `time` lies in the piece: 0 at its left knot, 1 at its right knot. Beyond the outer knots it is below 0 or above 1. */
export function shareAt(knots: Knots, piece: number, time: number): number {
  return (time - knots.first) / knots.step - piece;
}

export function correctionAt(knots: Knots, values: Float64Array, time: number): number {
  const piece = pieceAt(knots, time);
  const share = shareAt(knots, piece, time);
  return values[piece]! + share * (values[piece + 1]! - values[piece]!);
}

/** The estimate of a pair's true delay: never below 0 if the clocks are right. */
export function slack(
  knots: Knots,
  from: Float64Array,
  to: Float64Array,
  time: number,
  delay: number,
): number {
  return delay - correctionAt(knots, from, time) + correctionAt(knots, to, time + delay);
}
