/**
 * A weighted straight line through (x, y), centred before it is summed so that nanoseconds of days keep their digits. With one point, or
 * with points too close to distinguish a slope from noise, the slope is 1: both axes count nanoseconds.
 */

export interface Point {
  readonly x: number;
  readonly y: number;
  readonly weight: number;
}

export interface Line {
  readonly slope: number;
  /** Largest |y - line|. */
  readonly residual: number;
  at(x: number): number;
}

/** A shorter span shows only read-out noise: 1 µs over 2 s is half a ppm. */
const MIN_SPAN_NS = 2e9;
/** No oscillator is farther off its nominal rate: then the wall clock was stepped. */
const MAX_DRIFT = 1e-3;

export function fitLine(points: readonly Point[]): Line {
  let total = 0;
  let meanX = 0;
  let meanY = 0;
  for (const { x, y, weight } of points) {
    total += weight;
    meanX += (weight / total) * (x - meanX);
    meanY += (weight / total) * (y - meanY);
  }
  const slope = fitSlope(points, meanX, meanY);
  const at = (x: number): number => meanY + slope * (x - meanX);
  const residual = points.reduce((worst, { x, y }) => Math.max(worst, Math.abs(y - at(x))), 0);
  return { slope, residual, at };
}

function fitSlope(points: readonly Point[], meanX: number, meanY: number): number {
  let xx = 0;
  let xy = 0;
  let least = Infinity;
  let most = -Infinity;
  for (const { x, y, weight } of points) {
    xx += weight * (x - meanX) ** 2;
    xy += weight * (x - meanX) * (y - meanY);
    least = Math.min(least, x);
    most = Math.max(most, x);
  }
  if (most - least < MIN_SPAN_NS) return 1;
  const slope = xy / xx;
  return Math.abs(slope - 1) > MAX_DRIFT ? 1 : slope;
}
