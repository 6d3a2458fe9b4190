/**
 * When a standstill is called a hang. Ranks of which each lives may be on their way to the collective: writing a checkpoint,
 * compiling, starting up. That looks the same, and is no reason to wake anyone before it has lasted long. What cannot go on is
 * called a hang at once: a rank's process is gone, the communicator was aborted, or the ranks did not call alike.
 */

import { SILENT_AFTER } from './absence.js';
import { mismatchOf } from './hang.js';
import type { Case } from './judge.js';
import { commOf, lastSignOf, type Stall } from './stalls.js';
import type { RankWitness } from './types.js';

/** Unless another time was asked for, ns. */
const HUNG_AFTER = 30e9;
/** So many times what its communicator took, or paused, before. */
const MUCH_LONGER = 2;

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
    allLived(stall.files, evidence) &&
    mismatchOf(stall, evidence) === null
  );
}

export const isAborted = ({ collective, works }: Stall, ranks: readonly RankWitness[]): boolean =>
  (collective?.aborted.length ?? 0) > 0 ||
  works.some(({ file, work }) => (commOf(ranks[file]!, work)?.finalized ?? null) !== null);

/**
 * When they were read, or as long as any of them speaks; on clocks that nothing relates nobody is known to have fallen silent
 * before the others. Nor are ranks without a file known to be gone.
 */
export function allLived(files: readonly number[], { ranks, comparable }: Case): boolean {
  const end = comparable(files) ? lastSignOf(files, ranks) : -Infinity;
  return files.every((file) => {
    const { isClosed, isAlive, lastSign } = ranks[file]!;
    return isAlive || (!isClosed && lastSign !== null && end - lastSign <= SILENT_AFTER);
  });
}
