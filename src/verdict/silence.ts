/**
 * Whose file fell silent before the others', and whether that says that its process was gone. Files of a job that runs are copied one
 * after the other, so the older copy of a living rank may look the same; on clocks that nothing relates nothing is said.
 */

import { COPIED_WITHIN } from '../scan/read_order.js';
import type { TraceNs } from '../base/time.js';
import { SILENT_AFTER } from './absence.js';
import { lastSignOf, type Case } from './case.js';
import { livedLater } from './older_copies.js';
import type { Silent } from './types.js';

/** All lived as long as any of them speaks, as far as is known; ranks without a file are not asked. */
export const allLived = (files: readonly number[], evidence: Case, since: TraceNs): boolean =>
  !files.some((file) => evidence.ranks[file]!.isClosed) &&
  silentAmong(files, evidence, since).every(({ mayBeCopy }) => mayBeCopy);

/**
 * Of `files`, by each other; a file that was closed in order is not silent, nor one whose rank is known to have lived on, unless something
 * stands of which it has no record. Where others
 * were closed in order later it need not have missed a heartbeat: they ended, and it did not. `since`: when it began to stand. Whose last sign comes
 * with that was the reason, rather than copied at that very moment.
 */
export function silentAmong(files: readonly number[], evidence: Case, since: TraceNs): Silent[] {
  const { ranks, comparable } = evidence;
  const end = comparable(files) ? lastSignOf(files, ranks) : null;
  // Of files that were read in place, or of a job that has ended, none is an earlier copy.
  const sameTime = files.some((file) => ranks[file]!.isAlive || ranks[file]!.isClosed);
  return files.flatMap((file): Silent[] => {
    const { lastSign, isClosed, isAlive, isToldInTime } = ranks[file]!;
    if (isClosed || isAlive) return [];
    if (lastSign === null) return [{ file, lastSign, mayBeCopy: false }];
    const behind = (end ?? lastSignOf(onItsAxis(file, files, evidence), ranks)) - lastSign;
    if (behind <= SILENT_AFTER && !othersEndedAfter(file, files, evidence)) return [];
    const livedOn = lastSign - since > SILENT_AFTER;
    const isOlder = livedLater(file, evidence);
    // Older than its rank, and no word of what stands: it may have died since, with its last records (a node and its memory).
    if (isOlder && livedOn) return [];
    const mayBeCopy = (livedOn || isOlder) && behind <= COPIED_WITHIN && !sameTime && !isToldInTime;
    return [{ file, lastSign, mayBeCopy }];
  });
}

/** Then no last sign is the reason for it. */
export const NOTHING_STOOD = -Infinity as TraceNs;

/**
 * Of `files`, those whose processes are gone since they stand, `since`, or shortly before. Nobody tells that anything of them is unfinished: a
 * copy of a healthy file that is older than the others looks the same. So it has to have stood for longer than copying takes, and for
 * much longer, ns, than it took or paused before. That one of the others is fresh, or closed, says nothing of when this one was copied.
 * Their records reach to their ends.
 */
export function goneSince(
  files: readonly number[],
  evidence: Case,
  since: TraceNs,
  muchLonger: number,
): number[] {
  const { ranks, comparable } = evidence;
  if (!comparable(files)) return [];
  const end = lastSignOf(files, ranks);
  const isNoCopy = (lastSign: TraceNs): boolean =>
    since - lastSign <= COPIED_WITHIN &&
    end - Math.max(since, lastSign) >= Math.max(COPIED_WITHIN, muchLonger);
  return silentAmong(files, evidence, since).flatMap(({ file, lastSign, mayBeCopy }) => {
    if (mayBeCopy || lastSign === null || ranks[file]!.knownUntil < lastSign) return [];
    return ranks[file]!.isToldInTime || isNoCopy(lastSign) ? [file] : [];
  });
}

export const othersEndedAfter = (
  file: number,
  others: readonly number[],
  { ranks, comparable, clockBound }: Case,
): boolean =>
  others.some((other) => {
    const [sign, end] = [ranks[file]!.lastSign, ranks[other]!.lastSign];
    if (!ranks[other]!.isClosed || end === null || !comparable([file, other])) return false;
    return sign === null || end - clockBound(file, other, end) > sign;
  });

const onItsAxis = (file: number, files: readonly number[], { comparable }: Case): number[] =>
  files.filter((other) => comparable([file, other]));

export const silentFiles = (evidence: Case, since: TraceNs): Silent[] =>
  silentAmong(
    evidence.ranks.map((_, file) => file),
    evidence,
    since,
  );
