/**
 * The moment since when everything is slower, all kinds of collectives together, each compared with its own kind: a single change in a series
 * of times, larger than the series' own scatter. Other courses have no such moment. After a pause or with two changes, no level separates the
 * times before from the times after. A drift is a line, not a step.
 */

import type { TraceNs } from '../base/time.js';
import { around, causeOf, type CauseEvidence } from './cause_evidence.js';
import { byKind, type CollectiveRow } from './collectives.js';
import { medianOf } from '../base/quantile.js';
import { squaresOf, stretchesOf, studentQuantile, studentsT } from './noise.js';
import { fitLine } from './latency_and_rate.js';

interface Timed {
  readonly row: CollectiveRow;
  readonly kind: string;
  /** Logarithm of the time, relative to the median of its kind. */
  readonly log: number;
}

export function slowerSince({ collectives }: CauseEvidence) {
  const kinds = byKind(collectives.filter(({ durationNs }) => durationNs !== null && durationNs > 0));
  const all = [...kinds].flatMap(([kind, [, ...rows]]): Timed[] => {
    const usual = medianOf(rows.map(({ durationNs }) => durationNs!));
    return rows.map((row) => ({ row, kind, log: Math.log(row.durationNs! / usual) }));
  });
  all.sort((a, b) => a.row.startNs - b.row.startNs);
  const change = changePoint(all.map(({ log }) => log));
  if (change === null) return null;
  const [before, after] = [all.slice(0, change.index), all.slice(change.index)];
  const seen = [...kinds.keys()].flatMap((kind) => {
    const [a, b] = [before, after].map((side) =>
      side.filter((one) => one.kind === kind).map(({ row }) => row.durationNs!),
    ) as [number[], number[]];
    return a.length > 0 && b.length > 0 ? [{ rows: b.length, rise: medianOf(b) - medianOf(a) }] : [];
  });
  const sinceNs = after[0]!.row.startNs;
  const length = medianOf(after.map(({ row }) => row.durationNs!));
  const factor = Number(change.factor.toPrecision(3));
  const slowerKinds = seen.filter(({ rise }) => rise > 0).length;
  const costNs = Math.round(seen.reduce((sum, { rows, rise }) => sum + rows * Math.max(0, rise), 0));
  const about = { factor, before: before.length, after: after.length, slowerKinds, kinds: seen.length };
  const view = around(sinceNs, 3 * length);
  return causeOf('slower since', { ...about, view }, { since: sinceNs as TraceNs, cost: costNs });
}

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
/** This many stretches may lie on the wrong side, but not the first or the last. */
const WRONG_SIDE = 0.08;
/** The squares that a line leaves must be this many times those that the step leaves. Machines drift, and a drift has no moment to name. */
const LEAST_STEP = 2;

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
  const isWrong = medians.map((median, i) => median > middle !== i >= best.split);
  const wrong = isWrong[0] || isWrong[count - 1] ? Infinity : isWrong.filter(Boolean).length;
  const factor = Math.exp(high - low);
  if (factor < LEAST_FACTOR || wrong > WRONG_SIDE * count || !isStep(medians, best.split)) return null;
  return { index: exactly(logs, border, Math.ceil(logs.length / count), low, high), factor };
}

/** Whether the values are a step and not a line. */
function isStep(values: readonly number[], split: number): boolean {
  const step = squaresOf(values.slice(0, split)) + squaresOf(values.slice(split));
  const line = fitLine(values.map((y, x) => ({ x, count: 1, sum: y, sumOfSquares: y * y })))!;
  return (1 - line.r2) * squaresOf(values) >= LEAST_STEP * step;
}

/** The place within `reach` of the border where most values are nearer to the level of their own side. */
function exactly(logs: readonly number[], border: number, reach: number, low: number, high: number): number {
  let [best, bestSum, sum] = [border - reach, 0, 0];
  for (let i = border - reach; i < Math.min(logs.length, border + reach); i++) {
    sum += Math.abs(logs[i]! - high) - Math.abs(logs[i]! - low);
    if (sum > bestSum) [best, bestSum] = [i + 1, sum];
  }
  return best;
}
