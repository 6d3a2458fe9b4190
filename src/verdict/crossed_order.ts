/**
 * A deadlock of orders: some ranks began call A before B, others B before A. Or A before B, B before C and C before A, and so on. On each rank
 * the second call waits behind the first in its stream. With several streams all calls would go on. So it is a deadlock only if no GPU has
 * begun its second call.
 */

import { addTo } from '../base/grouped.js';
import { cached, callName } from './case.js';
import { firstWorks, hasBegun, type Stall } from './stall.js';
import type { RankWitness } from './file_facts.js';
import type { Order } from './types.js';

/**
 * The orders that contradict each other, each with its ranks: the first two calls of all that wait for each other in a circle. The rarest first
 * if there are two orders. Empty: there are none.
 */
export function crossedWith(
  stall: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): readonly (readonly Order[])[] {
  const circle = behind(stall, stalls).filter((other) => behind(other, stalls).includes(stall));
  const sides = new Map<string, Order[]>();
  ranks.forEach((_, file) => {
    const [first, second] = circle
      .flatMap((one) => firstWorks(one).get(file) ?? [])
      .sort((a, b) => a.start - b.start)
      .map((work) => callName({ file, work }, ranks));
    const key = [first, second]
      .map((call) => `${call?.commId} ${call?.func} ${call?.seq} ${call?.replay}`)
      .join();
    if (first && second) addTo(sides, key, { file, first, second });
  });
  const all = [...sides.values()];
  return all.length === 2 ? all.sort((a, b) => a.length - b.length) : all;
}

/** Those that some rank began later, and what was begun after them, and so on. */
function behind(stall: Stall, stalls: readonly Stall[]): Stall[] {
  const found = new Set<Stall>();
  const from = [stall];
  // What is added meanwhile is visited, too.
  for (const one of from)
    for (const next of followers(stalls).get(one) ?? [])
      if (!found.has(next)) {
        found.add(next);
        from.push(next);
      }
  return [...found];
}

/** The calls that some rank began after this one, while no GPU of such a rank has begun them. */
const followers = cached(
  (stalls: readonly Stall[]): ReadonlyMap<Stall, readonly Stall[]> =>
    new Map(
      stalls.map((one) => [
        one,
        stalls.filter((other) => other !== one && filesInOrder(one, other).length > 0),
      ]),
    ),
);

/** The files whose ranks began `one` and then `other`. Empty if a GPU of theirs has begun `other`. */
function filesInOrder(one: Stall, other: Stall): number[] {
  const [first, second] = [firstWorks(one), firstWorks(other)];
  const files = [...first].flatMap(([file, { start }]) =>
    start < (second.get(file)?.start ?? 0) ? [file] : [],
  );
  return files.some((file) => hasBegun(second.get(file)!)) ? [] : files;
}

/** The ranks with the rarest order; all of them if orders are equally frequent, or if there are more than two. */
export const strayedIn = ([rarest = [], ...others]: readonly (readonly Order[])[]): number[] =>
  (others.length === 1 && others[0]!.length > rarest.length ? [rarest] : [rarest, ...others])
    .flat()
    .map(({ file }) => file);
