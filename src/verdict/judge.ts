/**
 * Makes a verdict from the joined collectives and each rank's last state. No claim exceeds the evidence. A rank is late only if it came
 * last by more than the clocks' error. A rank never entered only if it was recording before and after. A stall is a hang only if nothing
 * can go on, or if it has lasted much longer than anything before.
 */

import { maxOf } from '../base/extremes.js';
import { addTo } from '../base/grouped.js';
import { hungAfter, isHang, isWorthReporting, mayGoOn, stoodStill } from './is_hang.js';
import { endOfRun, type Case, type Facts } from './case.js';
import { endedInMidst, findBreaks, type Break } from './broken_off.js';
import { causeOf, waitingFor } from './root_stall.js';
import {
  cannotTell,
  mayBeOver,
  unclear,
  unclearBreak,
  unclearFor,
  unclearWhetherSlow,
  unclearWhileIdle,
} from './unclear.js';
import { describeHang } from './hang.js';
import { idleness } from './idleness.js';
import { firstMismatch, mismatchOf } from './mismatch.js';
import { processStates, NO_STALL, silentAmong, silentFiles } from './process_states.js';
import { slowest, type Judged } from './slowness.js';
import type { Stall } from './stall.js';
import { findStalls } from './find_stalls.js';
import type { RankWitness } from './file_facts.js';
import type { Broken, Silent, Unclear, Verdict, VerdictKind, Working } from './types.js';

export function judge(facts: Facts): Verdict {
  const evidence: Case = { ...facts, processes: processStates(facts) };
  const { comms, ranks, comparable } = evidence;
  const lateness = slowest(evidence);
  return {
    ...kindOf(evidence, lateness),
    states: evidence.processes.map(({ state }) => state),
    endsNotKnown: ranks.reduce((sum, { pending }) => sum + pending.endsNotKnown, 0),
    endsToSelf: ranks.reduce((sum, { pending }) => sum + pending.endsToSelf, 0),
    partial: ranks.flatMap(({ reach }, file) => (reach.isPartial ? [file] : [])),
    damaged: ranks.flatMap(({ lacks }, file) => (lacks.isDamaged ? [file] : [])),
    lostEntries: ranks.reduce((sum, { lacks }) => sum + lacks.lostEntries, 0),
    unknownComms: {
      works: ranks.reduce((sum, { lacks }) => sum + lacks.unknownComms, 0),
      files: ranks.flatMap(({ lacks }, file) => (lacks.unknownComms > 0 ? [file] : [])),
    },
    sampled: sampled(ranks),
    muted: ranks.flatMap(({ lacks }, file) => (lacks.isMuted ? [file] : [])),
    notRecorded: notRecorded(ranks),
    seen: {
      communicators: comms.length,
      collectives: comms.reduce((sum, { collectives }) => sum + collectives.length, 0),
      works: ranks.reduce((sum, { worksSeen }) => sum + worksSeen, 0),
    },
    lateness: comms.every(({ files }) => comparable(files)),
    unresolved: lateness.unresolved,
    latest: lateness.latest,
    compared: lateness.compared,
  };
}

function kindOf(evidence: Case, lateness: Judged): VerdictKind {
  const seeming = findStalls(evidence).filter((stall) => isWorthReporting(stall, evidence));
  const doubtful = seeming.filter((stall) => mayBeOver(stall, evidence));
  const stalls = seeming.filter((stall) => !doubtful.includes(stall));
  const hung = hangAmong(stalls, evidence);
  if (hung) return { kind: 'hung', hang: describeHang(hung, stalls, evidence) };
  const breaks = findBreaks(evidence);
  const broken = firstBreak(
    breaks.filter(({ isSure }) => isSure),
    evidence,
  );
  if (broken) return { kind: 'broken', broken };
  const rest = withoutMismatch(evidence, lateness, stalls, doubtful, breaks);
  // A certain fault comes before a possible fault, because it may be the reason.
  const mismatch = firstMismatch(evidence);
  return mismatch ? { kind: 'mismatch', mismatch, besides: rest } : rest;
}

/** Nothing hangs or broke off. */
function withoutMismatch(
  evidence: Case,
  { slow, doubtful: late }: Judged,
  stalls: readonly Stall[],
  doubtful: readonly Stall[],
  breaks: readonly Break[],
): VerdictKind {
  const { ranks } = evidence;
  const waiting = causeAmong(stalls, evidence);
  // If all its processes have ended, nothing can come any more, and the work broke off.
  if (waiting?.files.some((file) => !ranks[file]!.life.isClosed && !ranks[file]!.life.isGone))
    return {
      kind: 'waiting',
      waiting: {
        stall: describeHang(waiting, stalls, evidence),
        hungAfter: hungAfter(waiting, evidence),
        isLive: waiting.files.every((file) => ranks[file]!.life.isAlive),
        byKernel: waiting.files.filter((file) => ranks[file]!.life.isLate),
      },
    };
  const unknown = unclear(evidence, doubtful);
  if (unknown && doubtful.length > 0) return { kind: 'unclear', unclear: unknown };
  const [broken] = breaks;
  if (broken) return { kind: 'unclear', unclear: unclearBreak(broken, evidence) };
  const unfinished = filesAtWork(evidence);
  const silent = silentFiles(evidence, NO_STALL);
  const gone = silent.filter(({ mayBeCopy }) => !mayBeCopy);
  const unclearOf = (files: readonly Silent[]): Unclear | null =>
    unfinished.length > 0 ? null : unclearFor(files, evidence);
  // Work that is unfinished only in the file of a silent rank does not show that the others are stuck.
  const isAtWork = unfinished.some((file) => !silent.some((one) => one.file === file));
  const idle = isAtWork ? null : idleness(evidence);
  const left = isAtWork ? endedInMidst(evidence) : [];
  const ended = causeAmong(left, evidence);
  // The most important finding comes first: a job that stood still before it ended, a rank that disappeared or ranks that do nothing, then a
  // late rank, then a rank that may have disappeared.
  if (slow && !idle && !unclearOf(gone) && !(ended && stoodStill(ended))) return { kind: 'slow', slow };
  if (unknown) return { kind: 'unclear', unclear: unknown };
  const damaged = cannotTell(evidence);
  if (damaged) return { kind: 'unclear', unclear: damaged };
  if (idle) return { kind: 'unclear', unclear: unclearWhileIdle(idle, silent, evidence) };
  if (ended) return { kind: 'broken', broken: brokenInMidst(ended, left, evidence) };
  const died = unclearFor(
    silent.filter(({ isGone }) => isGone),
    evidence,
  );
  if (died) return { kind: 'unclear', unclear: died };
  if (unfinished.length > 0)
    return { kind: 'working', working: workingIn(unfinished, true, silent, evidence) };
  if (ranks.every(({ pace }) => pace.lastMove.size === 0)) return { kind: 'nothing' };
  const quiet = unclearOf(silent);
  if (quiet) return { kind: 'unclear', unclear: quiet };
  if (late) return { kind: 'unclear', unclear: unclearWhetherSlow(late, silent, evidence) };
  // The records of these ranks stop, and do not say whether their last work ended.
  const stopped = ranks.flatMap(({ life, pending }, file) =>
    !life.isClosed && !life.isAlive && pending.lastWithoutEnd.length > 0 ? [file] : [],
  );
  return stopped.length > 0
    ? { kind: 'working', working: workingIn(stopped, false, silent, evidence) }
    : { kind: 'healthy', silent };
}

function brokenInMidst(ended: Stall, left: readonly Stall[], evidence: Case): Broken {
  const { ranks } = evidence;
  const silent = silentAmong(ended.files, evidence, ended.since);
  const others = ended.files.filter(
    (file) => ranks[file]!.life.isGone && !silent.some((one) => one.file === file),
  );
  const gone = [
    ...silent,
    ...others.map((file) => ({
      file,
      lastSign: ranks[file]!.life.lastSign,
      mayBeCopy: false,
      isGone: true,
    })),
  ].sort((a, b) => a.file - b.file);
  const files = new Set(ended.works.map(({ file }) => file));
  return {
    stall: describeHang(ended, left, evidence),
    gone,
    isOrderKnown: gone.length === 0,
    left: [...files].filter((file) => ranks[file]!.life.isClosed),
    finished: [],
  };
}

function workingIn(
  files: readonly number[],
  isUnfinished: boolean,
  silent: readonly Silent[],
  { ranks }: Case,
): Working {
  const end = endOfRun(ranks);
  const moved = ranks.flatMap(({ pace }) => [...pace.lastMove.values()]);
  return {
    end,
    // If nothing ever moved, the stall began with the trace.
    stalledFor: moved.length === 0 ? end : end - maxOf(moved),
    files,
    isUnfinished,
    silent,
    isLive: ranks.some(({ life }) => life.isAlive),
  };
}

/** The first break. The other breaks are listed as waiting for it, or are reported beside it. */
function firstBreak(breaks: readonly Break[], evidence: Case): Broken | null {
  const stalls = breaks.map(({ stall }) => stall);
  const cause = causeAmong(stalls, evidence);
  const found = breaks.find(({ stall }) => stall === cause);
  if (!found) return null;
  const { stall, gone, isOrderKnown, left, finished } = found;
  return { stall: describeHang(stall, stalls, evidence), gone, isOrderKnown, left, finished };
}

const causeAmong = (stalls: readonly Stall[], evidence: Case): Stall | null =>
  causeOf(stalls, evidence.ranks, (stall) => mismatchOf(stall, evidence) === null);

/** null: no hang yet. If a stall waits for ranks that have just begun other work, it is no hang at any age. */
function hangAmong(stalls: readonly Stall[], evidence: Case): Stall | null {
  const cause = causeAmong(stalls, evidence);
  if (!cause || isHang(cause, evidence)) return cause;
  const waits = waitingFor(cause, stalls, evidence.ranks);
  const others = stalls.filter(
    (stall) => isHang(stall, evidence) && !(waits.has(stall) && mayGoOn(stall, evidence)),
  );
  return causeAmong(others, evidence);
}

/** Includes files whose only unfinished part is executed by another process (PXN). */
function filesAtWork({ comms, ranks }: Case): number[] {
  const open = new Set(comms.flatMap(({ collectives }) => collectives.flatMap((one) => one.open)));
  return ranks.flatMap(({ pending: { works, inside } }, file) =>
    works.length + inside.length > 0 || open.has(file) ? [file] : [],
  );
}

function sampled(ranks: readonly RankWitness[]): Verdict['sampled'] {
  const byNumber = new Map<number | null, number[]>();
  ranks.forEach(({ lacks: { sampleEvery: every } }, file) => {
    if (every !== 1) addTo(byNumber, every, file);
  });
  return [...byNumber].map(([every, files]) => ({ every, files }));
}

function notRecorded(ranks: readonly RankWitness[]): Verdict['notRecorded'] {
  const byEvent = new Map<string, number[]>();
  ranks.forEach((rank, file) => {
    for (const event of rank.lacks.notRecorded) addTo(byEvent, event, file);
  });
  return [...byEvent].map(([event, files]) => ({ event, files }));
}
