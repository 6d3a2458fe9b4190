/**
 * A deadlock of two orders: some ranks began one call first, and others began the other call first. On each rank the second call waits
 * behind the first in its stream. With two streams both calls would go on. So it is a deadlock only if no rank's GPU has begun the second
 * call.
 */

import { callName } from './case.js';
import type { Stall } from './stall.js';
import type { RankWitness, WitnessedWork } from './file_facts.js';
import type { Crossed, Order } from './types.js';

/** null: all ranks in both began them in the same order. */
export function crossedWith(
  stall: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): Crossed | null {
  const own = firstWorks(stall);
  for (const other of stalls) {
    if (other === stall) continue;
    const orders = ordersOf(own, firstWorks(other), ranks);
    if (orders) return orders;
  }
  return null;
}

function ordersOf(own: FirstWorks, others: FirstWorks, ranks: readonly RankWitness[]): Crossed | null {
  const ownFirst: Order[] = [];
  const otherFirst: Order[] = [];
  for (const [file, work] of own) {
    const other = others.get(file);
    if (!other || other.start === work.start) continue;
    const isOwnFirst = work.start < other.start;
    const [first, second] = isOwnFirst ? [work, other] : [other, work];
    if (hasBegun(second)) return null;
    const call = (one: WitnessedWork): Order['first'] => callName({ file, work: one }, ranks);
    (isOwnFirst ? ownFirst : otherFirst).push({ file, first: call(first), second: call(second) });
  }
  if (ownFirst.length === 0 || otherFirst.length === 0) return null;
  return ownFirst.length >= otherFirst.length
    ? { most: ownFirst, others: otherFirst }
    : { most: otherFirst, others: ownFirst };
}

/** The ranks with the rarer order; all of them if both orders are equally frequent. */
export const strayedIn = ({ most, others }: Crossed): number[] =>
  (most.length === others.length ? [...most, ...others] : others).map(({ file }) => file);

type FirstWorks = ReadonlyMap<number, WitnessedWork>;

/** By file, the oldest work. */
function firstWorks({ works }: Stall): FirstWorks {
  const first = new Map<number, WitnessedWork>();
  for (const { file, work } of works) {
    const known = first.get(file);
    if (!known || work.start < known.start) first.set(file, work);
  }
  return first;
}

/** Data may arrive before the kernel starts, so a receive in flight proves nothing. */
export const hasBegun = ({ blocks, hasMoved }: WitnessedWork): boolean =>
  hasMoved || (blocks?.begun ?? 0) > 0;
