/** Pending work that may have ended in lost records or elsewhere, and finished work that may be stuck. */

import { isAborted } from './is_hang.js';
import { endOfRun, callName, type Case } from './case.js';
import { mismatchOf } from './mismatch.js';
import { maxOf } from '../base/extremes.js';
import { found, foundBy, type Found, type Rule } from './finding.js';
import { allLived, othersEndedAfter } from './process_states.js';
import type { Break, Scene } from './scene.js';
import type { Stall } from './stall.js';
import type { RankWitness } from './file_facts.js';
import type { Idle, Lateness, RuleName, Silent, Unclear } from './types.js';

/**
 * Ranks that disappeared. If nothing is known to be unfinished, the others may be stuck without them. With `mayBeCopy`: ranks of which only
 * an older copy may be here.
 */
export const silent: Rule = (scene) => {
  const gone = scene.silent.filter(({ mayBeCopy, isGone }) => !mayBeCopy && (isGone || hasMoved(scene)));
  return scene.unfinished.length > 0 ? [] : doubt('silent', true, unclearFor(gone, scene));
};

/** Others still work. */
export const died: Rule = (scene) =>
  scene.unfinished.length === 0
    ? []
    : doubt(
        'silent',
        false,
        unclearFor(
          scene.silent.filter(({ isGone }) => isGone),
          scene,
        ),
      );

export const perhapsSilent: Rule = (scene, before) =>
  scene.unfinished.length > 0 || foundBy(before, 'silent').length > 0
    ? []
    : doubt('silent', false, unclearFor(scene.silent, scene));

export const lostRecords: Rule = (scene) => {
  const lost = scene.doubtful.length > 0 ? null : unclear(scene, []);
  return doubt('lost records', false, lost ?? cannotTell(scene));
};

export const nothingSeen: Rule = (scene) =>
  hasMoved(scene) || scene.unfinished.length > 0
    ? []
    : [found('nothing seen', { kind: 'nothing' }, { stands: false, isSure: false })];

const hasMoved = ({ ranks }: Case): boolean => ranks.some(({ pace }) => pace.lastMove.size > 0);

export const doubt = (rule: RuleName, stands: boolean, unclear: Unclear | null): Found[] =>
  unclear ? [found(rule, { kind: 'unclear', unclear }, { stands, isSure: false })] : [];

/**
 * The pending work may have ended in lost records, and there is no other evidence of a hang: no absent rank, no dead process, no abort, no
 * different call.
 */
export function mayBeOver(stall: Stall, evidence: Case): boolean {
  const { works, files, absent, partlyAbsent, collective } = stall;
  const { ranks } = evidence;
  if (works.length === 0 || works.some(({ work }) => work.lostSince === 0)) return false;
  const known = new Set(works.map(({ file }) => file));
  if (absent.length + partlyAbsent.length > 0 || collective?.open.some((file) => !known.has(file)) === true)
    return false;
  const notClosed = files.filter((file) => !ranks[file]!.life.isClosed);
  return (
    !isAborted(stall, ranks) &&
    allLived(notClosed, evidence, stall.since) &&
    mismatchOf(stall, evidence) === null
  );
}

/** null: no work can have ended in lost records, or other work is certainly pending. `stalls`: the stalls that may be over. */
export function unclear({ ranks }: Case, stalls: readonly Stall[]): Unclear | null {
  const all = ranks.flatMap(({ pending }, file) => pending.works.map((work) => ({ file, work })));
  const asked = new Set(stalls.flatMap(({ works }) => works.map(({ work }) => work)));
  const doubtful = all.filter(({ work }) => work.lostSince > 0 || asked.has(work));
  if (
    stalls.length === 0 &&
    (doubtful.length < all.length || doubtful.some(({ file }) => !ranks[file]!.life.isClosed))
  )
    return null;
  const [first] = [...doubtful].sort((a, b) => a.work.start - b.work.start);
  if (!first) return null;
  return {
    work: callName(first, ranks),
    works: doubtful.length,
    files: [...new Set(doubtful.map((one) => one.file))].sort((a, b) => a - b),
    lost: doubtful.reduce((most, one) => Math.max(most, one.work.lostSince), 0),
    silent: [],
    idle: null,
    late: null,
    end: endOfRun(ranks),
  };
}

/** Nothing seems stuck, but work may be: parts of files are missing, or the communicator of pending work is not known. null: neither. */
export function cannotTell({ ranks }: Case): Unclear | null {
  const isOpen = ranks.some(({ pending }) => pending.works.some(({ comm }) => comm === null));
  const isDamaged = ranks.some((rank) => rank.lacks.isDamaged);
  return isDamaged || isOpen ? nothingPending([], ranks) : null;
}

/**
 * Nothing seems stuck, but ranks are silent. Either no record shows whether their last common work ended, or they have certainly died while
 * the others lived on. null: no such rank. If all work was done and the others ended in order, a dead rank leaves no doubt.
 */
export function unclearFor(silent: readonly Silent[], evidence: Case): Unclear | null {
  const { ranks } = evidence;
  const all = ranks.map((_, file) => file);
  const doubtful = silent.filter(
    ({ file, mayBeCopy }) =>
      mayBeStuckWithout(file, ranks) || (!mayBeCopy && !othersEndedAfter(file, all, evidence)),
  );
  return doubtful.length === 0 ? null : nothingPending(doubtful, ranks);
}

/** Look at silent ranks first, except those whose files may be copies. */
export function unclearWhileIdle(idle: Idle, silent: readonly Silent[], { ranks }: Case): Unclear {
  return { ...nothingPending(silent, ranks), ...unfinishedOf(silent, ranks), idle };
}

/** The oldest work, the number of works, and their files. */
function unfinishedOf(
  silent: readonly Silent[],
  ranks: readonly RankWitness[],
): Pick<Unclear, 'work' | 'works' | 'files'> {
  const all = silent.flatMap(({ file }) => ranks[file]!.pending.works.map((work) => ({ file, work })));
  const [first] = [...all].sort((a, b) => a.work.start - b.work.start);
  return {
    work: first ? callName(first, ranks) : null,
    works: all.length,
    files: [...new Set(all.map(({ file }) => file))],
  };
}

/** All work ended, but half of the time was lost to one rank. */
export const unclearWhetherSlow = (late: Lateness, silent: readonly Silent[], { ranks }: Case): Unclear => ({
  ...nothingPending(silent, ranks),
  late,
});

/** The rank that disappeared had begun work that the others finished, and its file may be an older copy. */
export function unclearBreak({ stall, gone }: Break, { ranks }: Case): Unclear {
  const [first] = stall.works;
  return {
    ...nothingPending(
      gone.map((one) => ({ ...one, mayBeCopy: true })),
      ranks,
    ),
    work: first ? callName(first, ranks) : null,
    works: stall.works.length,
    files: gone.map(({ file }) => file),
  };
}

function mayBeStuckWithout(file: number, ranks: readonly RankWitness[]): boolean {
  const own = new Set([...ranks[file]!.communicators.values()].map(({ commId }) => commId));
  return ranks.some(({ communicators, pending, lacks }, other) => {
    const shared = [...communicators].flatMap(([number, { commId }]) =>
      commId !== 0n && own.has(commId) ? [number] : [],
    );
    return (
      other !== file &&
      shared.length > 0 &&
      (lacks.sampleEvery !== 1 ||
        lacks.isMuted ||
        pending.lastWithoutEnd.some((number) => number === null || shared.includes(number)))
    );
  });
}

const nothingPending = (silent: readonly Silent[], ranks: readonly RankWitness[]): Unclear => ({
  work: null,
  works: 0,
  files: [],
  lost: 0,
  silent,
  idle: null,
  late: null,
  end: endOfRun(ranks),
});

/** Work that is unfinished at the end of the records, but not for long. Nothing is wrong with it. */
export const atWork: Rule = (scene, before) =>
  scene.unfinished.length > 0 &&
  foundBy(before, 'stuck', 'perhaps over', 'broke off', 'job ended').length === 0
    ? [working(scene.unfinished, true, scene)]
    : [];

/** The records of these ranks stop, and do not say whether their last work ended. */
export const perhapsAtWork: Rule = (scene) => {
  const stopped = scene.ranks.flatMap(({ life, pending }, file) =>
    !life.isClosed && !life.isAlive && pending.lastWithoutEnd.length > 0 ? [file] : [],
  );
  return scene.unfinished.length === 0 && stopped.length > 0 ? [working(stopped, false, scene)] : [];
};

function working(files: readonly number[], isUnfinished: boolean, { ranks, silent }: Scene): Found {
  const end = endOfRun(ranks);
  const moved = ranks.flatMap(({ pace }) => [...pace.lastMove.values()]);
  const working = {
    end,
    // If nothing ever moved, the stall began with the trace.
    stalledFor: moved.length === 0 ? end : end - maxOf(moved),
    files,
    isUnfinished,
    silent,
    isLive: ranks.some(({ life }) => life.isAlive),
  };
  return found('at work', { kind: 'working', working }, { stands: false, isSure: false });
}
