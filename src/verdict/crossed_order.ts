/**
 * A deadlock of orders: some ranks began call A before B, others B before A. Or A before B, B before C and C before A, and so on. On each rank
 * the second call waits behind the first in its stream. With several streams all calls would go on. So it is a deadlock only if no GPU has
 * begun its second call.
 */

import { cached, callName } from './case.js';
import { firstWorks, hasBegun, type Stall } from './stall.js';
import type { RankWitness } from './file_facts.js';
import type { Order } from './types.js';

/** The orders that contradict each other, each with its ranks; the rarest first if there are two. Empty: there are none. */
export function crossedWith(
  stall: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): readonly (readonly Order[])[] {
  const follows = followers(stalls);
  const seen = new Set<Stall>();
  let paths: readonly (readonly Stall[])[] = [[stall]];
  while (paths.length > 0) {
    const longer: (readonly Stall[])[] = [];
    for (const path of paths)
      for (const next of follows.get(path.at(-1)!) ?? []) {
        if (next === stall) return sidesOf([...path, stall], ranks);
        if (seen.has(next)) continue;
        seen.add(next);
        longer.push([...path, next]);
      }
    paths = longer;
  }
  return [];
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

function sidesOf(circle: readonly Stall[], ranks: readonly RankWitness[]): Order[][] {
  const sides = circle.slice(1).map((after, i) => {
    const before = circle[i]!;
    const call = (file: number, stall: Stall): Order['first'] =>
      callName({ file, work: firstWorks(stall).get(file)! }, ranks);
    return filesInOrder(before, after).map((file) => ({
      file,
      first: call(file, before),
      second: call(file, after),
    }));
  });
  return sides.length === 2 ? sides.sort((a, b) => a.length - b.length) : sides;
}

/** The ranks with the rarest order; all of them if orders are equally frequent, or if there are more than two. */
export const strayedIn = ([rarest = [], ...others]: readonly (readonly Order[])[]): number[] =>
  (others.length === 1 && others[0]!.length > rarest.length ? [rarest] : [rarest, ...others])
    .flat()
    .map(({ file }) => file);
