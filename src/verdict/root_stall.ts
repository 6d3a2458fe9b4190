/**
 * Finds the stall for which the others wait. Stall A waits for stall B if a rank that A misses is in B, or if most ranks in both began B
 * first. There is one exception: the missing rank may be late because of A itself. Then B queues behind A, directly or through the queues
 * of other communicators, and B waits for A.
 */

import { minOf } from '../base/extremes.js';
import { commOf } from './case.js';
import { begunBy, firstWorks, hasBegun, type Stall } from './stall.js';
import type { PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';

/**
 * The causes first. A cause waits for no stall, or only for stalls that wait for it, too. Of these it is the one that misses the fewest
 * ranks, because most ranks are right. Otherwise it is the one that began first. A stall with different calls comes before all others,
 * because it can cause any other stall.
 */
export function inOrderOfCause(
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
  callAlike: (stall: Stall) => boolean,
): readonly Stall[] {
  const isBehind = waitsFor(stalls, ranks);
  const waiting = new Map(stalls.map((stall) => [stall, thoseBehind(stall, stalls, isBehind)]));
  const ranked = stalls.map((stall) => {
    const before = stalls.filter((other) => waiting.get(other)!.has(stall));
    const mutual = before.filter((other) => waiting.get(stall)!.has(other));
    const missesFewer = ({ absent }: Stall): boolean =>
      absent.length > 0 && absent.length < stall.absent.length;
    return {
      stall,
      isAlike: Number(stalls.length < 2 || callAlike(stall)),
      waits: before.length - mutual.length,
      missing: stalls.filter((other) => other !== stall && missesOneIn(stall, other, ranks)).length,
      fewer: mutual.filter(missesFewer).length,
      begin: begin(stall),
    };
  });
  ranked.sort(
    (a, b) =>
      a.isAlike - b.isAlike ||
      a.waits - b.waits ||
      a.missing - b.missing ||
      a.fewer - b.fewer ||
      a.begin - b.begin,
  );
  return ranked.map(({ stall }) => stall);
}

/**
 * Stalls that would end with `cause`: all ranks that they miss are missing there, or stuck there or in another such stall. If they miss none,
 * they queue behind such a stall.
 */
export function waitingFor(
  cause: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): ReadonlySet<Stall> {
  const explained = new Set([cause]);
  const held = new Set<number>();
  // What is added meanwhile explains others.
  for (const other of explained) {
    for (const file of other.absent) held.add(file);
    ranks.forEach((_, file) => {
      if (!held.has(file) && stuckIn(file, other, ranks)) held.add(file);
    });
    for (const stall of stalls) {
      const { absent } = stall;
      if (absent.length > 0 ? absent.every((file) => held.has(file)) : queuesBehind(stall, other))
        explained.add(stall);
    }
  }
  explained.delete(cause);
  return explained;
}

type Relation = (stall: Stall, other: Stall) => boolean;

function thoseBehind(cause: Stall, stalls: readonly Stall[], isBehind: Relation): ReadonlySet<Stall> {
  const behind = new Set<Stall>([cause]);
  // What is added meanwhile is visited, too.
  for (const other of behind)
    for (const stall of stalls) if (!behind.has(stall) && isBehind(stall, other)) behind.add(stall);
  behind.delete(cause);
  return behind;
}

const known = new WeakMap<readonly Stall[], Relation>();

/** Whether the first stall waits for the second. Every stall is compared with every other, so this is done once. */
function waitsFor(stalls: readonly Stall[], ranks: readonly RankWitness[]): Relation {
  const before = known.get(stalls);
  if (before) return before;
  const queued = new Map(stalls.map((stall) => [stall, thoseBehind(stall, stalls, queuesBehind)]));
  const waits = new Map(
    stalls.map((other) => {
      const behind = queued.get(other)!;
      const misses = (stall: Stall): boolean =>
        missesOneIn(stall, other, ranks) && !queued.get(stall)!.has(other);
      return [other, new Set(stalls.filter((stall) => behind.has(stall) || misses(stall)))];
    }),
  );
  const relation: Relation = (stall, other) => waits.get(other)!.has(stall);
  known.set(stalls, relation);
  return relation;
}

const missesOneIn = ({ absent }: Stall, other: Stall, ranks: readonly RankWitness[]): boolean =>
  absent.some((file) => stuckIn(file, other, ranks));

function stuckIn(file: number, other: Stall, ranks: readonly RankWitness[]): boolean {
  const { works, inside, commId, collective } = other;
  if (begunBy(other).has(file) || [...works, ...inside].some((one) => one.file === file)) return true;
  const isOther = (work: PendingWork): boolean => commOf(ranks[file]!, work)?.commId === commId;
  return collective !== null && ranks[file]!.pending.works.some(isOther);
}

/** Most ranks in both began the other one first. Works of two communicators do not queue on a GPU that has begun this one. */
function queuesBehind(stall: Stall, other: Stall): boolean {
  const others = begunBy(other);
  const works = firstWorks(stall);
  let balance = 0;
  for (const [file, at] of begunBy(stall)) {
    const work = works.get(file);
    if (!work || stall.commId === other.commId || !hasBegun(work))
      balance += Math.sign(at - (others.get(file) ?? at));
  }
  return balance > 0;
}

const begin = (stall: Stall): number =>
  minOf(
    [...begunBy(stall).values(), ...stall.inside.map(({ call }) => call.at)],
    stall.collective?.firstCalled ?? Infinity,
  );
