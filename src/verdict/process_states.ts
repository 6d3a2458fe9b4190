/**
 * The state of each file's process, decided once for all rules. Files of a running job are copied one after the other, so an older copy of
 * a live rank's file makes the rank look silent. Nothing is claimed across files without a common clock or communicator.
 */

import { COPIED_WITHIN } from '../scan/read_order.js';
import { maxOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import { SILENT_AFTER } from './absence.js';
import { lastSignOf, laterBy, type Case, type Facts } from './case.js';
import { livedLater } from './older_copies.js';
import { pausedIn } from './pauses.js';
import type { ProcessState, Silent } from './types.js';

export function processStates(facts: Facts): ProcessState[] {
  const { ranks, comparable } = facts;
  const all = ranks.map((_, file) => file);
  const newest = all.map((file) => lastSignOf([file], ranks));
  const end = comparable(all) ? maxOf(newest) : null;
  // If files were read in place, or if the job has ended, no file is an earlier copy.
  const isAtEnd = ranks.some(({ life }) => life.isAlive || life.isClosed);
  const isOver = !ranks.some(({ life }) => life.isAlive);
  return ranks.map(
    (
      { life: { lastSign, isClosed, isAlive, hasHeartbeats, isNoEarlierCopy, isGone } },
      file,
    ): ProcessState => {
      if (isClosed || isAlive) return { state: isClosed ? 'ended' : 'alive', lastSign, isSure: true };
      if (!hasHeartbeats) return { state: 'alive', lastSign, isSure: false };
      // The others live, so it did not end with the job.
      if (lastSign === null || (isGone && !isOver)) return { state: 'silent', lastSign, isSure: true };
      const behindOther = (other: number): number =>
        laterBy([other, newest[other]!], [file, lastSign], facts);
      const behind = end === null ? maxOf(all.map(behindOther)) : end - lastSign;
      // If others were closed after its last sign, the rank is silent even without a missed heartbeat: the others ended in order, and it did
      // not.
      const late = behind - pausedIn([file], lastSign, lastSign + behind, ranks);
      if (late <= SILENT_AFTER && !othersEndedAfter(file, all, facts))
        return { state: 'alive', lastSign, isSure: false };
      const isSure = isAtEnd || isNoEarlierCopy || behind > COPIED_WITHIN;
      return { state: livedLater(file, facts) ? 'copy' : 'silent', lastSign, isSure };
    },
  );
}

/**
 * The silent ranks among `files`, for a stall that began at `since`. If the last sign is from about that time, the process is the reason of
 * the stall. If the last sign is later, the file may be an older copy. If the rank of a copy lived on, it is not silent. But if the copy
 * lacks a record of the stall, a node may have died, and its last records were lost with its memory.
 */
export const silentAmong = (files: readonly number[], { processes, ranks }: Case, since: TraceNs): Silent[] =>
  files.flatMap((file): Silent[] => {
    const { state, lastSign, isSure } = processes[file]!;
    if (state === 'ended' || state === 'alive') return [];
    const livedOn = lastSign !== null && lastSign - since > SILENT_AFTER;
    if (livedOn && state === 'copy') return [];
    const mayBeCopy = !isSure && (livedOn || state === 'copy');
    const { isGone, isStopped } = ranks[file]!.life;
    return [{ file, lastSign, mayBeCopy, isGone, isStopped }];
  });

/** The silent files of the run. The others went on without a rank that was left behind, so it matters only among those that wait for it (`stuck`). */
export const silentFiles = (evidence: Case, since: TraceNs, stuck: readonly number[] = []): Silent[] =>
  silentAmong(
    [...evidence.processes.keys()].filter((file) => !evidence.leftBehind.has(file) || stuck.includes(file)),
    evidence,
    since,
  );

/** Start of a stall if there is none, so that every last sign is later. */
export const NO_STALL = -Infinity as TraceNs;

/** No process ended in order, and none has certainly died. */
export const allLived = (files: readonly number[], evidence: Case, since: TraceNs): boolean =>
  !files.some((file) => evidence.processes[file]!.state === 'ended') &&
  silentAmong(files, evidence, since).every(({ mayBeCopy }) => mayBeCopy);

/**
 * Files whose processes died at about the time `since` when the stall began, or shortly before. They left no unfinished work, and an older
 * copy of a healthy file looks the same. So the stall must be longer than copying takes, and longer than `muchLonger` (ns). Another file
 * that is recent or closed does not show when this one was copied. The records must reach to the last sign.
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
    if (mayBeCopy || lastSign === null || ranks[file]!.reach.knownUntil < lastSign) return [];
    return ranks[file]!.life.isNoEarlierCopy || isNoCopy(lastSign) ? [file] : [];
  });
}

export const othersEndedAfter = (file: number, others: readonly number[], facts: Facts): boolean =>
  others.some((other) => {
    const [sign, end] = [facts.ranks[file]!.life.lastSign, facts.ranks[other]!.life.lastSign];
    if (!facts.ranks[other]!.life.isClosed || end === null) return false;
    return laterBy([other, end], [file, sign ?? -Infinity], facts) > 0;
  });
