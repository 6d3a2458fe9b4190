/**
 * When a standstill is called a hang. Ranks of which each lives may be on their way to the collective: writing a checkpoint,
 * compiling, starting up. That looks the same, and is no reason to wake anyone before it has lasted long. What cannot go on is
 * called a hang at once: a rank's process is gone, the communicator was aborted, or the ranks did not call alike.
 */

import { commOf, type Case } from './case.js';
import { mismatchOf } from './mismatch.js';
import { allLived } from './silence.js';
import { filesInDoubt, MUCH_LONGER, type Stall } from './stalls.js';
import type { RankWitness } from './types.js';

/** Unless another time was asked for, ns. */
export const HUNG_AFTER = 30e9;

/**
 * Worth a word at all. What may go on is not while it is no older than what its communicator finished before, unless it was said
 * how old it may become.
 */
export const stands = (stall: Stall, evidence: Case): boolean =>
  stall.until - stall.since >= stall.mayTake || evidence.hungAfter !== null || !mayGoOn(stall, evidence);

/** From which age on it is a hang, ns; 0: at once. */
export function hungAfter(stall: Stall, evidence: Case): number {
  if (!mayGoOn(stall, evidence)) return 0;
  return evidence.hungAfter ?? Math.max(HUNG_AFTER, MUCH_LONGER * stall.longestBefore);
}

export const isHang = (stall: Stall, evidence: Case): boolean =>
  stall.until - stall.since >= hungAfter(stall, evidence);

export function mayGoOn(stall: Stall, evidence: Case): boolean {
  return (
    !isAborted(stall, evidence.ranks) &&
    allLived(stall.files, evidence, stall.since) &&
    mismatchOf(stall, evidence) === null
  );
}

/** Surely: what may have ended in lost records may as well have been destroyed in order. */
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
