/**
 * Whether a number differs between two runs by more than noise. The scatter within a run is not enough: medians of two runs of one healthy
 * job were up to 16 standard errors (block bootstrap) apart, because machines drift. So two runs are expected to differ as much as the
 * stretches of one run. The scale is logarithmic, because a change is a ratio and a few long times should not count much.
 */

import { minOf } from '../base/extremes.js';
import { medianOf } from '../base/quantile.js';

/** One number over one run. */
export interface Level {
  /** Logarithm of its median. */
  readonly log: number;
  /** Standard deviation of the medians of its stretches. */
  readonly spread: number;
  readonly stretches: number;
}

export interface Change {
  /** After / before - 1, and its interval. */
  readonly change: number;
  readonly low: number;
  readonly high: number;
}

const STRETCHES = 16;
const LEAST_VALUES = 8;
/** Chance that any of all comparisons of two equal runs shows a difference. */
const CHANCE = 0.01;
/** How far beyond the noise a change must be to be reported. */
const LEAST_CHANGE = Math.log(1.05);

/** `values` in order of time; `floor` is added to values that may be 0. null: too few. */
export function levelOf(values: readonly number[], floor = 0): Level | null {
  const logs = values.filter((value) => value + floor > 0).map((value) => Math.log(value + floor));
  if (logs.length < LEAST_VALUES) return null;
  const medians = stretchesOf(logs).map(medianOf);
  return { log: medianOf(logs), spread: deviation(medians), stretches: medians.length };
}

/** Stretches of equal length. */
export function stretchesOf(values: readonly number[], most = STRETCHES): number[][] {
  const stretches = Math.min(most, values.length);
  const border = (i: number): number => Math.floor((i * values.length) / stretches);
  return Array.from({ length: stretches }, (_, i) => values.slice(border(i), border(i + 1)));
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sum of squares about the mean. */
export function squaresOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
}

export const deviation = (values: readonly number[]): number =>
  Math.sqrt(squaresOf(values) / (values.length - 1));

/** Several levels as one. Their noise is assumed to be common, so it does not average out. */
export function levelsTogether(levels: readonly { readonly level: Level; readonly weight: number }[]): Level {
  const total = levels.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (of: (level: Level) => number): number =>
    levels.reduce((sum, { level, weight }) => sum + weight * of(level), 0) / total;
  return {
    log: mean(({ log }) => log),
    spread: mean(({ spread }) => spread),
    stretches: minOf(levels.map(({ level }) => level.stretches)),
  };
}

/** The noise that a change must exceed in one of `comparisons`, on the log scale. */
export function noiseBetween(before: Level, after: Level, comparisons: number): number {
  const freedom = before.stretches + after.stretches - 2;
  return studentQuantile(CHANCE / comparisons, freedom) * Math.hypot(before.spread, after.spread);
}

/** null: within the noise. */
export function changeOf(before: Level, after: Level, comparisons: number): Change | null {
  const difference = after.log - before.log;
  const noise = noiseBetween(before, after, comparisons);
  if (Math.abs(difference) <= noise + LEAST_CHANGE) return null;
  return {
    change: Math.expm1(difference),
    low: Math.expm1(difference - noise),
    high: Math.expm1(difference + noise),
  };
}

/** The Student's t that is exceeded, on either side, with this chance. */
export function studentQuantile(chance: number, freedom: number): number {
  let [low, high] = [0, 1];
  while (studentTails(high, freedom) > chance) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (studentTails(middle, freedom) > chance) low = middle;
    else high = middle;
  }
  return high;
}

/** Closed form for even degrees of freedom; odd ones are rounded down. Subtracts from 1, so it is exact to 1e-12. */
function studentTails(t: number, freedom: number): number {
  const even = Math.max(2, freedom - (freedom % 2));
  const cosine = even / (even + t * t);
  let [term, sum] = [1, 1];
  for (let i = 1; i < even / 2; i++) sum += term *= (cosine * (2 * i - 1)) / (2 * i);
  return 1 - (t / Math.sqrt(even + t * t)) * sum;
}

/** Student's t of two lists of values with one variance: how far the second's mean lies above the first's. */
export function studentsT(before: readonly number[], after: readonly number[]): number {
  const variance = (squaresOf(before) + squaresOf(after)) / (before.length + after.length - 2);
  return (
    (meanOf(after) - meanOf(before)) /
    Math.sqrt(Math.max(variance, 1e-12) * (1 / before.length + 1 / after.length))
  );
}
