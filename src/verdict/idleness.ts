/**
 * Processes that are alive, or were alive up to their last record, without events for much longer than ever before. Nothing seems stuck.
 * But they may be stuck in work that is not recorded: a collective that sampling left out, a collective without a reported end, or anything
 * outside NCCL.
 */

import { maxOf, minOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { HUNG_AFTER } from './is_hang.js';
import type { Case } from './case.js';
import { foundBy, type Rule } from './finding.js';
import { behindOthers } from './fewer_calls.js';
import { callersByComm, evidenceAt, shapeAt } from './placed_calls.js';
import { NO_STALL, silentFiles } from './process_states.js';
import { MUCH_LONGER, TRANSFER_MAY_TAKE } from './stall.js';
import { standingCalls } from './stalled_calls.js';
import type { RankWitness } from './file_facts.js';
import type { Behind, Idle } from './types.js';
import { doubt, unclearWhileIdle } from './unclear.js';

/** ns: a shorter recording may contain none of the job's long pauses (a checkpoint, an evaluation). */
const LONG_WINDOW = 600e9;
/** ns: such a pause may take this long. */
const UNSEEN_MAY_TAKE = 300e9;

export const idle: Rule = (scene, before) => {
  if (foundBy(before, 'stuck').length > 0) return [];
  const found = (scene.isAtWork ? null : idleness(scene)) ?? standing(scene);
  return found ? doubt('idle', true, unclearWhileIdle(found, scene.silent, scene)) : [];
};

/** Each file's time without events is measured by its own clock. null: the ranks do something or just did, or no rank is alive. */
export function idleness(evidence: Case): Idle | null {
  const { ranks, hungAfter } = evidence;
  const silent = new Set([
    ...silentFiles(evidence, NO_STALL).map(({ file }) => file),
    ...evidence.leftBehind,
  ]);
  const files = ranks.flatMap((rank, file) => (mayCall(rank) && !silent.has(file) ? [file] : []));
  const ages = files.flatMap((file) => quietFor(ranks[file]!) ?? []);
  if (ages.length === 0) return null;
  const age = minOf(ages);
  const longestBefore = maxOf(ranks.map(({ pace }) => pace.longestQuiet));
  const last = lastUnseen(files, ranks);
  const behind = longBehind(evidence);
  // The ranks with more calls wait for the ranks with fewer, as in a recorded collective.
  const [shorter, longer] = isPaceKnown(files, ranks)
    ? [TRANSFER_MAY_TAKE, HUNG_AFTER]
    : [HUNG_AFTER, UNSEEN_MAY_TAKE];
  const least = behind.length > 0 ? shorter : longer;
  // With --hung-after an ordinary pause must not look like a stall.
  const isNoPause = behind.length > 0 && hungAfter !== null;
  if (age < Math.max(hungAfter ?? least, isNoPause ? 0 : MUCH_LONGER * longestBefore)) return null;
  return {
    since: maxOf(files.map((file) => ranks[file]!.pace.lastEvent ?? -Infinity)) as TraceNs,
    age,
    longestBefore,
    isPaceWhole: files.every((file) => ranks[file]!.pace.isPaceWhole),
    files,
    isLive: files.every((file) => ranks[file]!.life.isAlive),
    ended: ranks.flatMap(({ life }, file) => (life.isClosed ? [file] : [])),
    behind,
    isPart: false,
    last,
  };
}

function standing(evidence: Case): Idle | null {
  const { ranks, hungAfter } = evidence;
  const [longest] = standingCalls(evidence).toSorted((a, b) => b.age - a.age);
  if (!longest) return null;
  const { behind, age } = longest;
  const files = behind.ahead;
  const longestBefore = maxOf(files.map((file) => ranks[file]!.pace.longestQuiet));
  if (age < Math.max(hungAfter ?? HUNG_AFTER, MUCH_LONGER * longestBefore)) return null;
  return {
    ...{ since: behind.newest, age, longestBefore, files, behind: [behind], ended: [], last: null },
    isPaceWhole: files.every((file) => ranks[file]!.pace.isPaceWhole),
    isLive: files.every((file) => ranks[file]!.life.isAlive),
    isPart: true,
  };
}

/** The newest call, if all ranks of its communicator made it, and NCCL reports no work of it. */
function lastUnseen(files: readonly number[], ranks: readonly RankWitness[]): Idle['last'] {
  let last: Idle['last'] = null;
  for (const [commId, sections] of callersByComm(ranks))
    for (const callers of sections) {
      const [first] = callers;
      const isCommon = callers.every(({ end, file, calls }) => {
        const isLast = end === first!.end && calls.reported(1)[0] === null;
        return isLast && files.includes(file) && calls.shape.length > 0;
      });
      if (!first || !isCommon || callers.length < first.nRanks) continue;
      const { at } = evidenceAt(first, first.end - 1);
      if (last === null || at > last.at)
        last = { ...shapeAt(first, first.end - 1), commId: hex64(commId), comm: first.name, at };
    }
  return last;
}

/** Whether some file covers all of the job's activity, or much of it. */
const isPaceKnown = (files: readonly number[], ranks: readonly RankWitness[]): boolean =>
  files.some((file) => ranks[file]!.pace.isPaceWhole || ranks[file]!.pace.watched >= LONG_WINDOW);

/**
 * Ranks that have been behind for longer than a garbage collection or a wait for input takes, even with the largest error of the clocks.
 */
function longBehind(evidence: Case): Behind[] {
  const { ranks, clockBound, hungAfter } = evidence;
  const least = Math.min(TRANSFER_MAY_TAKE, hungAfter ?? Infinity);
  return behindOthers(evidence).flatMap((one) => {
    const isLong = (file: number): boolean =>
      ranks[file]!.reach.knownUntil - one.at - clockBound(file, one.file, one.at) >= least;
    const files = one.files.filter(isLong);
    return files.length === 0 ? [] : [{ ...one, files }];
  });
}

/** Not closed, with a communicator that was not finalized, and its calls are recorded. */
const mayCall = ({ life, pace, communicators }: RankWitness): boolean =>
  !life.isClosed &&
  pace.hasCallsNow &&
  [...communicators.values()].some(({ finalized }) => finalized === null);

/** ns. null: the rank never did anything, so its pace is not known. */
const quietFor = ({ life: { lastSign }, reach, pace: { lastEvent } }: RankWitness): number | null =>
  lastSign === null || lastEvent === null ? null : Math.min(lastSign, reach.knownUntil) - lastEvent;
