/**
 * The moment since when everything is slower: one change in a series of times, larger than the series' own scatter. Other courses (a drift, a
 * pause, two changes) give none: then the stretches before and after do not lie on two sides of a level between them.
 */

import { medianOf } from './statistics.js';
import { stretchesOf, studentQuantile, studentsT } from './noise.js';

export interface ChangePoint {
  /** The first value after the change. */
  readonly index: number;
  /** Factor on the time before. */
  readonly factor: number;
}

const STRETCHES = 24;
/** Values per stretch, and stretches on each side. */
const LEAST_VALUES = 2;
const LEAST_SIDE = 5;
const CHANCE = 0.001;
const LEAST_FACTOR = 1.5;
/** This many stretches may lie on the wrong side. */
const WRONG_SIDE = 0.08;

/** `logs`: logarithms of times, in order. */
export function changePoint(logs: readonly number[]): ChangePoint | null {
  const count = Math.min(STRETCHES, Math.floor(logs.length / LEAST_VALUES));
  if (count < 2 * LEAST_SIDE) return null;
  const stretches = stretchesOf(logs, count);
  const medians = stretches.map(medianOf);
  let best = { split: 0, t: 0 };
  for (let split = LEAST_SIDE; split <= count - LEAST_SIDE; split++) {
    const t = studentsT(medians.slice(0, split), medians.slice(split));
    if (t > best.t) best = { split, t };
  }
  if (best.t < studentQuantile(CHANCE / count, count - 2)) return null;
  const border = stretches.slice(0, best.split).reduce((sum, { length }) => sum + length, 0);
  const [low, high] = [medianOf(logs.slice(0, border)), medianOf(logs.slice(border))];
  const middle = (low + high) / 2;
  const wrong = medians.filter((median, i) => median > middle !== i >= best.split).length;
  const factor = Math.exp(high - low);
  if (factor < LEAST_FACTOR || wrong > WRONG_SIDE * count) return null;
  return { index: exactly(logs, border, Math.ceil(logs.length / count), low, high), factor };
}

/** Within `reach` of the border: where most values lie nearer to their own side's level. */
function exactly(logs: readonly number[], border: number, reach: number, low: number, high: number): number {
  let [best, bestSum, sum] = [border - reach, 0, 0];
  for (let i = border - reach; i < Math.min(logs.length, border + reach); i++) {
    sum += Math.abs(logs[i]! - high) - Math.abs(logs[i]! - low);
    if (sum > bestSum) [best, bestSum] = [i + 1, sum];
  }
  return best;
}
