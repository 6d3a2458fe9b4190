/** Of several stalls, which one the others wait for. */

import { minOf } from '../base/extremes.js';
import { commOf } from './case.js';
import type { Stall } from './stalls.js';
import type { RankWitness, WitnessedWork } from './types.js';

/**
 * One waits for another where a rank that it misses stands in the other, or where most ranks that stand in both began the other
 * first. The cause waits for none; of several the one that was begun first. Before all others comes one whose ranks did not call
 * alike: what follows of that is anything.
 */
export function causeOf(
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
  callAlike: (stall: Stall) => boolean,
): Stall | null {
  const ranked = stalls.map((stall) => ({
    stall,
    isAlike: Number(stalls.length < 2 || callAlike(stall)),
    missing: stalls.filter((other) => other !== stall && missesOneIn(stall, other, ranks)).length,
    queued: stalls.filter((other) => other !== stall && queuesBehind(stall, other)).length,
    begin: begin(stall),
  }));
  ranked.sort(
    (a, b) => a.isAlike - b.isAlike || a.missing - b.missing || a.queued - b.queued || a.begin - b.begin,
  );
  return ranked[0]?.stall ?? null;
}

/** Those that wait for `cause`, directly or through others. */
export function waitingFor(
  cause: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): ReadonlySet<Stall> {
  const waiting = new Set<Stall>([cause]);
  for (let before = 0; before !== waiting.size;) {
    before = waiting.size;
    for (const stall of stalls)
      if ([...waiting].some((other) => waitsFor(stall, other, ranks))) waiting.add(stall);
  }
  waiting.delete(cause);
  return waiting;
}

/** Also what misses the same ranks as the cause. */
const waitsFor = (stall: Stall, other: Stall, ranks: readonly RankWitness[]): boolean =>
  missesOneIn(stall, other, ranks) ||
  queuesBehind(stall, other) ||
  stall.absent.some((file) => other.absent.includes(file));

const missesOneIn = ({ absent }: Stall, other: Stall, ranks: readonly RankWitness[]): boolean =>
  absent.some((file) => standsIn(file, other, ranks));

function standsIn(
  file: number,
  { works, commId, collective }: Stall,
  ranks: readonly RankWitness[],
): boolean {
  if (works.some((one) => one.file === file)) return true;
  const isOther = (work: WitnessedWork): boolean => commOf(ranks[file]!, work)?.commId === commId;
  return collective !== null && ranks[file]!.works.some(isOther);
}

function queuesBehind(stall: Stall, other: Stall): boolean {
  const [own, others] = [firstStarts(stall), firstStarts(other)];
  let balance = 0;
  for (const [file, start] of own) balance += Math.sign(start - (others.get(file) ?? start));
  return balance > 0;
}

/** By file. */
function firstStarts({ works }: Stall): ReadonlyMap<number, number> {
  const starts = new Map<number, number>();
  for (const { file, work } of works) starts.set(file, Math.min(starts.get(file) ?? Infinity, work.start));
  return starts;
}

const begin = ({ collective, works, inside }: Stall): number =>
  minOf(
    [...works.map(({ work }) => work.start), ...inside.map(({ call }) => call.at)],
    collective?.firstCalled ?? Infinity,
  );
