/**
 * Finds the stall for which the others wait. Stall A waits for stall B if a rank that A misses is in B, or if most ranks in both began B
 * first. There is one exception: the missing rank may be late because of A itself. Then B queues behind A, directly or through the queues
 * of other communicators, and B waits for A.
 */

import { minOf } from '../base/extremes.js';
import { commOf } from './case.js';
import { firstWorks, type Stall } from './stall.js';
import type { PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';

/**
 * The cause waits for no stall, or only for stalls that wait for it, too. If there are several, it is the one that misses the fewest ranks,
 * because most ranks are right. Otherwise it is the one that began first. A stall with different calls comes before all others, because it
 * can cause any other stall.
 */
export function causeOf(
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
  callAlike: (stall: Stall) => boolean,
): Stall | null {
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
  return ranked[0]?.stall ?? null;
}

/** Stalls that wait for `cause`, directly or through others, or miss the same ranks. */
export const waitingFor = (
  cause: Stall,
  stalls: readonly Stall[],
  ranks: readonly RankWitness[],
): ReadonlySet<Stall> => {
  const isBehind = waitsFor(stalls, ranks);
  return thoseBehind(cause, stalls, (stall, other) => isBehind(stall, other) || missSameRank(stall, other));
};

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

const missSameRank = (stall: Stall, other: Stall): boolean =>
  stall.absent.some((file) => other.absent.includes(file));

const missesOneIn = ({ absent }: Stall, other: Stall, ranks: readonly RankWitness[]): boolean =>
  absent.some((file) => stuckIn(file, other, ranks));

function stuckIn(
  file: number,
  { works, inside, commId, collective }: Stall,
  ranks: readonly RankWitness[],
): boolean {
  if ([...works, ...inside].some((one) => one.file === file)) return true;
  const isOther = (work: PendingWork): boolean => commOf(ranks[file]!, work)?.commId === commId;
  return collective !== null && ranks[file]!.pending.works.some(isOther);
}

function queuesBehind(stall: Stall, other: Stall): boolean {
  const others = firstWorks(other);
  let balance = 0;
  for (const [file, { start }] of firstWorks(stall))
    balance += Math.sign(start - (others.get(file)?.start ?? start));
  return balance > 0;
}

const begin = ({ collective, works, inside }: Stall): number =>
  minOf(
    [...works.map(({ work }) => work.start), ...inside.map(({ call }) => call.at)],
    collective?.firstCalled ?? Infinity,
  );
