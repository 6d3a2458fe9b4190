/** Converts between the time that a clock shows and its corrected time on the common axis, both in ns. */

import { correctionAt, knotTime, pieceAt, type Knots } from './corrections.js';

/** The time on the common axis when a clock shows `time`. */
export const alignedAt = (knots: Knots, values: Float64Array, time: number): number =>
  time + correctionAt(knots, values, time);

/** What a clock shows when it is at `axis` by its corrections. */
export function shownAt(knots: Knots, values: Float64Array, axis: number): number {
  if (!Number.isFinite(axis)) return axis;
  const { step, count } = knots;
  let piece = pieceAt(knots, axis);
  piece = pieceAt(knots, axis - values[piece]!);
  while (piece > 0 && axis < knotTime(knots, piece) + values[piece]!) piece--;
  while (piece < count - 2 && axis >= knotTime(knots, piece + 1) + values[piece + 1]!) piece++;
  const rate = 1 + (values[piece + 1]! - values[piece]!) / step;
  const knot = knotTime(knots, piece);
  return knot + (axis - knot - values[piece]!) / rate;
}

/** The rate of a clock's corrections, dimensionless. */
export function largestSlope({ step }: Knots, values: Float64Array): number {
  let largest = 0;
  for (let k = 1; k < values.length; k++)
    largest = Math.max(largest, Math.abs(values[k]! - values[k - 1]!) / step);
  return largest;
}
