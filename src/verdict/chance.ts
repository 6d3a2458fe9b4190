/** Whether ranks or links that are alike differ so much by chance. */

import { maxOf } from '../base/extremes.js';

/**
 * Whether one of several equal ranks may have cost this much by chance. If the ranks are equal, each wait may be for any of them. The chance
 * that one rank has such a large share has an upper bound (Chernoff) for any waits. A few large waits prove little.
 * `own`: waits for this rank. `others`: waits for the other ranks. `ranks`: number of all ranks. `share`: how many waits are for this rank if
 * all are equal. The result is a natural logarithm; 0: by chance.
 */
export function logChance(
  own: readonly number[],
  others: readonly number[],
  ranks: number,
  share = 1 / ranks,
): number {
  const all = [...own, ...others].filter((wait) => wait > 0);
  const cost = own.reduce((sum, wait) => sum + wait, 0);
  const largest = maxOf(all);
  if (all.length === 0 || ranks < 2 || cost <= 0) return 0;
  const bound = (theta: number): number =>
    all.reduce((sum, wait) => sum + logMean(share, theta * wait), 0) - theta * cost;
  // Convex in theta: search for the least value, in units of the largest wait.
  let [from, to] = [0, 60 / largest + (60 * all.length) / cost];
  for (let i = 0; i < 60; i++) {
    const [a, b] = [from + (to - from) / 3, to - (to - from) / 3];
    if (bound(a) < bound(b)) to = b;
    else from = a;
  }
  return Math.min(0, bound((from + to) / 2) + Math.log(ranks));
}

/** log(1 - p + p e^x), also for large x. */
const logMean = (p: number, x: number): number =>
  x > 30 ? x + Math.log(p + (1 - p) * Math.exp(-x)) : Math.log(1 - p + p * Math.exp(x));
