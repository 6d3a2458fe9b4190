/**
 * When a stall is called a hang. If all ranks are alive, a rank may still come: it writes a checkpoint, compiles, or starts up. This looks
 * like a hang, so there is no alarm before it has lasted long. A stall that cannot end is a hang at once: a rank's process has died, the
 * communicator was aborted, or the ranks made different calls.
 */

import { maxOf } from '../base/extremes.js';
import { SHORTEST_HANG } from './absence.js';
import { commOf, type Case } from './case.js';
import { mismatchOf } from './mismatch.js';
import { inOrderOfCause } from './root_stall.js';
import { allLived } from './process_states.js';
import { ageOf, farBeyond, filesInDoubt, MUCH_LONGER, type Stall } from './stall.js';
import type { RankWitness } from './file_facts.js';

/** ns, unless the user sets another time. */
export const HUNG_AFTER = 30e9;

/**
 * A stall that may still end is not reported while it is younger than its communicator's longest collective before, unless the user
 * set an age.
 */
export const isWorthReporting = (stall: Stall, evidence: Case): boolean =>
  stall.until - stall.since >= stall.mayTake || evidence.hungAfter !== null || !mayGoOn(stall, evidence);

/** ns: the age from which it is a hang; 0: at once. */
export function hungAfter(stall: Stall, evidence: Case): number {
  if (!mayGoOn(stall, evidence)) return 0;
  return evidence.hungAfter ?? Math.max(HUNG_AFTER, MUCH_LONGER * stall.longestBefore);
}

export const isHang = (stall: Stall, evidence: Case): boolean =>
  stall.until - stall.since >= hungAfter(stall, evidence) &&
  (stall.until - stall.since >= farBeyond(stall.longestBefore, evidence) ||
    !(mayGoOn(stall, evidence) && areElsewhere(stall, evidence)));

/** ns: a rank that pauses for as long as this between two calls is at work. */
const PAUSE = 2e9;

/**
 * All missing ranks work in other communicators up to the end, with no longer pauses than before. A rank that works for long overwrites
 * what would show that it has not called, so those of which it is not known count, too.
 */
function areElsewhere(stall: Stall, { ranks }: Case): boolean {
  const { absent, collective } = stall;
  const missing = new Set([...absent, ...(collective?.absent ?? []), ...(collective?.notKnown ?? [])]);
  return missing.size > 0 && [...missing].every((file) => isElsewhere(file, stall, ranks));
}

export function isElsewhere(file: number, { commId, since }: Stall, ranks: readonly RankWitness[]): boolean {
  const { communicators, pace, reach, life } = ranks[file]!;
  const moves = [...communicators].flatMap(([number, comm]) =>
    comm.commId === commId ? [] : (pace.lastMove.get(number) ?? []),
  );
  const last = maxOf(moves, 0);
  const until = Math.min(reach.knownUntil, life.lastSign ?? 0);
  return last > since + SHORTEST_HANG && until - last <= Math.max(PAUSE, MUCH_LONGER * pace.longestQuiet);
}

/** It lasted so long that this is no ordinary wait, even if it is too young for a hang. */
export const stoodStill = (stall: Stall, { ranks }: Case): boolean =>
  ageOf(stall, ranks) >= Math.max(SHORTEST_HANG, MUCH_LONGER * stall.longestBefore);

export const inCauseOrder = (stalls: readonly Stall[], evidence: Case): readonly Stall[] =>
  inOrderOfCause(stalls, evidence.ranks, (stall) => mismatchOf(stall, evidence) === null);

export function mayGoOn(stall: Stall, evidence: Case): boolean {
  return (
    !isAborted(stall, evidence.ranks) &&
    allLived(stall.files, evidence, stall.since) &&
    mismatchOf(stall, evidence) === null
  );
}

/** Only if it is certain. If the record of an end may be lost, the communicator may have been destroyed in order. */
export function isAborted({ collective, works }: Stall, ranks: readonly RankWitness[]): boolean {
  const mayBeOver = filesInDoubt(works);
  return (
    collective?.aborted.some((file) => !mayBeOver.includes(file)) === true ||
    works.some(
      ({ file, work }) =>
        !mayBeOver.includes(file) && (commOf(ranks[file]!, work)?.finalized ?? null) !== null,
    )
  );
}
