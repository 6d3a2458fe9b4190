/** Bounds of how fast clocks can gain on each other, piece by piece. They follow from the bounds of the clocks' places. Dimensionless. */

import { MAX_RATE, type GainRates } from './arc_limit.js';
import { knotTime, type Knots } from './corrections.js';
import type { Band } from './tangents.js';

/** Bounds that hold for any two counters. */
export const anyRate = (pieces: number): GainRates => ({
  least: new Float64Array(pieces).fill(-MAX_RATE),
  most: new Float64Array(pieces).fill(MAX_RATE),
});

/** The bounds of a clock against the group's reference. */
export interface BoundedClock {
  readonly band: Band;
  readonly knots: Knots;
  /** Instants of a piece. */
  readonly perPiece: number;
  /** Clocks show the times of knots at most this many ns earlier or later than their references. */
  readonly apart: number;
  /** Most that a clock's rate changes, 1/ns. */
  readonly curvature: number;
}

/** Longest span for which a rate is computed, unless a piece is longer. */
const SPAN_NS = 60e9;

/**
 * Narrows the rates in place, by where the clock can be at any two instants of a piece or near it. The rate at a time `far` from the middle
 * of a span is the span's mean rate plus a bend. The bend is largest if the clock bent one way before that time and the other way after it.
 */
export function narrowRates({ least, most }: GainRates, clock: BoundedClock): void {
  const { knots, perPiece, apart, curvature } = clock;
  const { times, most: high, least: low } = clock.band;
  const beside = Math.max(0, Math.round((perPiece * (SPAN_NS / knots.step - 1)) / 2));
  for (let piece = 0; piece + 1 < knots.count; piece++) {
    // A longer span has a better known mean rate, but says less about one piece.
    const first = Math.max(0, piece * perPiece - beside);
    const end = Math.min(times.length - 1, (piece + 1) * perPiece + beside);
    for (let i = first; i < end; i++) {
      for (let j = i + 1; j <= end; j++) {
        const span = times[j]! - times[i]!;
        const middle = (times[i]! + times[j]!) / 2;
        const far = apart + Math.max(middle - knotTime(knots, piece), knotTime(knots, piece + 1) - middle);
        const bend = 2 * curvature * (far >= span / 2 ? far : span / 4 + far ** 2 / span);
        const fast = (high[j]! - low[i]!) / span + bend;
        const slow = (low[j]! - high[i]!) / span - bend;
        if (fast < most[piece]!) most[piece] = fast;
        if (slow > least[piece]!) least[piece] = slow;
      }
    }
  }
}

/** How fast a receiver's clock gains on its sender's, by the rates of both against one reference. */
export function gainOf(receiver: GainRates, sender: GainRates): GainRates {
  const pieces = receiver.most.length;
  const gain = anyRate(pieces);
  for (let piece = 0; piece < pieces; piece++) {
    const most = (1 + receiver.most[piece]!) / (1 + sender.least[piece]!) - 1;
    const least = (1 + receiver.least[piece]!) / (1 + sender.most[piece]!) - 1;
    gain.most[piece] = Math.min(MAX_RATE, most);
    gain.least[piece] = Math.max(-MAX_RATE, least);
  }
  return gain;
}

/** How fast the difference of two clocks beyond their estimate can change. `sender`, `receiver`: their corrections. */
export function fastestDrift(
  knots: Knots,
  sender: Float64Array,
  receiver: Float64Array,
  { least, most }: GainRates,
): number {
  let fastest = 0;
  for (let piece = 0; piece + 1 < knots.count; piece++) {
    const estimated =
      (knots.step + receiver[piece + 1]! - receiver[piece]!) /
      (knots.step + sender[piece + 1]! - sender[piece]!);
    fastest = Math.max(fastest, (1 + most[piece]!) * estimated - 1, 1 - (1 + least[piece]!) * estimated);
  }
  return fastest;
}
