/**
 * Whose file fell silent before the others', and whether this proves that its process was gone. Files of a running job are copied one after
 * the other, so an older copy of a live rank looks the same. Nothing is claimed across unrelated clocks.
 */

import { COPIED_WITHIN } from '../scan/read_order.js';
import type { TraceNs } from '../base/time.js';
import { SILENT_AFTER } from './absence.js';
import { lastSignOf, type Case } from './case.js';
import { livedLater } from './older_copies.js';
import type { Silent } from './types.js';

/** All ranks with files were alive until the last sign of any of them, as far as is known. */
export const allLived = (files: readonly number[], evidence: Case, since: TraceNs): boolean =>
  !files.some((file) => evidence.ranks[file]!.isClosed) &&
  silentAmong(files, evidence, since).every(({ mayBeCopy }) => mayBeCopy);

/**
 * The silent ones among `files`, compared with each other. A file closed in order is not silent, nor one whose rank is known to have lived
 * on, unless it lacks a record of the stall. If others were closed in order later, no heartbeat need be missing: they ended, and it did
 * not. `since`: begin of the stall. A last sign at that time is its reason rather than the time of a copy.
 */
export function silentAmong(files: readonly number[], evidence: Case, since: TraceNs): Silent[] {
  const { ranks, comparable } = evidence;
  const end = comparable(files) ? lastSignOf(files, ranks) : null;
  // If files were read in place, or the job has ended, none is an earlier copy.
  const sameTime = files.some((file) => ranks[file]!.isAlive || ranks[file]!.isClosed);
  return files.flatMap((file): Silent[] => {
    const { lastSign, isClosed, isAlive, isToldInTime } = ranks[file]!;
    if (isClosed || isAlive) return [];
    if (lastSign === null) return [{ file, lastSign, mayBeCopy: false }];
    const behind = (end ?? lastSignOf(onItsAxis(file, files, evidence), ranks)) - lastSign;
    if (behind <= SILENT_AFTER && !othersEndedAfter(file, files, evidence)) return [];
    const livedOn = lastSign - since > SILENT_AFTER;
    const isOlder = livedLater(file, evidence);
    // Older than its rank, and without a record of the stall: it may have died since with its last records (a node and its memory).
    if (isOlder && livedOn) return [];
    const mayBeCopy = (livedOn || isOlder) && behind <= COPIED_WITHIN && !sameTime && !isToldInTime;
    return [{ file, lastSign, mayBeCopy }];
  });
}

/** Then no last sign is the reason for a stall. */
export const NOTHING_STOOD = -Infinity as TraceNs;

/**
 * Among `files`, those whose processes were gone when the stall began at `since`, or shortly before. No record shows anything of theirs
 * unfinished, and an older copy of a healthy file looks the same. So the stall must be longer than copying takes and than `muchLonger`, ns.
 * A fresh or closed file of another rank does not date this one. Their records reach to their ends.
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
