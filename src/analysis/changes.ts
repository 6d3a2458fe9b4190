/**
 * Finds what differs between two runs by more than noise: collectives by communicator, function and size class, links, and ranks. All
 * numbers are compared together, because among a thousand comparisons some differ by chance. Reads no file.
 */

import { addTo } from '../base/grouped.js';
import type { Choice, Measure, Pair, Subject } from './compared_collectives.js';
import { comparedPairs } from './compared_pairs.js';
import { changeOf, noiseBetween } from './noise.js';
import type { RunNumbers } from './run_numbers.js';
import { medianOf } from '../base/quantile.js';

export type { Measure, Subject } from './compared_collectives.js';

/** Before and after: medians, ns or GB/s. */
export interface Difference {
  readonly of: Subject;
  readonly measure: Measure;
  readonly before: number;
  readonly after: number;
  /** After / before - 1, and its interval; null: it was 0 before, or too small for a ratio. */
  readonly change: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly isWorse: boolean;
  /** ns that the difference costs the second run. Negative: it saves time. null: another number's cost includes it. */
  readonly costNs: number | null;
}

export interface Changes {
  /** What NCCL chose in another way: no matter of noise. */
  readonly choices: readonly { readonly of: Subject; readonly before: Choice; readonly after: Choice }[];
  /** The costliest first; numbers of one subject together. */
  readonly differences: readonly Difference[];
  readonly compared: number;
  /** By measure: the smallest change that would have shown, the median of all comparisons. */
  readonly resolution: Readonly<Partial<Record<Measure, number>>>;
  /** Collectives that only one of the runs has. */
  readonly onlyBefore: readonly Subject[];
  readonly onlyAfter: readonly Subject[];
}

type Shown = number | null;

/** Lateness and waits count if they cost at least this share of the second run's time. */
const LEAST_SHARE = 0.01;

export function changesBetween(before: RunNumbers, after: RunNumbers): Changes {
  const { pairs, choices, onlyBefore, onlyAfter } = comparedPairs(before, after);
  const differences = pairs.flatMap((pair) => differenceOf(pair, pairs.length, after.durationNs) ?? []);
  return {
    choices,
    differences: inOrderOfCost(differences),
    compared: pairs.length,
    resolution: resolutionOf(pairs),
    onlyBefore,
    onlyAfter,
  };
}

/** `comparisons`: how many are made; `durationNs`: of the second run. null: within the noise, or too cheap. */
export function differenceOf(pair: Pair, comparisons: number, durationNs: number): Difference | null {
  const { of, measure, floor, count } = pair;
  const change = changeOf(pair.before, pair.after, comparisons);
  if (change === null) return null;
  const [before, after] = [pair.before, pair.after].map(({ log }) => Math.max(0, Math.exp(log) - floor)) as [
    number,
    number,
  ];
  const costNs = count === null ? null : Math.round(count * (after - before));
  const isSmall = floor > 0 && Math.abs((count ?? 0) * (after - before)) < LEAST_SHARE * durationNs;
  if (isSmall) return null;
  const isWorse = measure === 'busbw' ? after < before : after > before;
  // The floor was added to the values. It is not shown. A ratio to less than the floor would say nothing, and 0 may have become 1e-10.
  const shown = (part: number): number | null =>
    before > 0 && before >= floor ? ((before + floor) * (1 + part) - floor) / before - 1 : null;
  const [middle, low, high] = [change.change, change.low, change.high].map(shown) as [Shown, Shown, Shown];
  return { of, measure, before, after, change: middle, low, high, isWorse, costNs };
}

function inOrderOfCost(all: readonly Difference[]): Difference[] {
  const costs = new Map<Subject, number>();
  for (const { of, costNs } of all) costs.set(of, Math.max(costs.get(of) ?? 0, Math.abs(costNs ?? 0)));
  return [...all].sort((a, b) => costs.get(b.of)! - costs.get(a.of)!);
}

function resolutionOf(pairs: readonly Pair[]): Changes['resolution'] {
  const noise = new Map<Measure, number[]>();
  for (const { measure, before, after } of pairs) {
    const found = noiseBetween(before, after, pairs.length);
    addTo(noise, measure, found);
  }
  return Object.fromEntries([...noise].map(([measure, all]) => [measure, Math.expm1(medianOf(all))]));
}
