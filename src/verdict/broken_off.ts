/**
 * Work that broke off: one rank's process died without closing its file, and others ended in order at about that time, so no stall was
 * long. Heartbeats come once a second, so the order of these two events is often not known. The others left their common work unfinished
 * after an error, or already had all their data.
 */

import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { enteredBy, leftAt, SILENT_AFTER } from './absence.js';
import { Wait } from '../model/waits.js';
import { commOf, lastSignOf, type Case } from './case.js';
import { othersEndedAfter, silentAmong } from './process_states.js';
import type { Stall } from './stall.js';
import { findUnfinished } from './find_stalls.js';
import type { PendingWork } from '../model/pending.js';
import type { RankWitness } from './file_facts.js';
import { withoutStalls } from './given_up.js';
import { describeHang } from './hang.js';
import { stallOf } from './facts/suspects.js';
import { found, type Found, type Rule } from './finding.js';
import type { Break } from './scene.js';
import { causesFirst } from './stuck.js';
import { HUNG_AFTER, inCauseOrder, stoodStill } from './is_hang.js';
import type { Broken, Silent } from './types.js';
import { doubt, unclearBreak } from './unclear.js';

/** Only the first one counts: the others wait for it, and are told with it. What stood still before is told as such. */
export const brokeOff: Rule = (scene, before) => {
  const breaks = scene.breaks.filter(({ stall }) => !isTold(stall, before));
  const sure = breaks.filter(({ isSure }) => isSure);
  const stalls = inCauseOrder(
    sure.map(({ stall }) => stall),
    scene,
  );
  if (stalls.length > 0)
    return causesFirst(stalls, scene, (one, because) => {
      const { stall, gone, isOrderKnown, left, finished } = sure.find(({ stall: own }) => own === one)!;
      const told = { stall: describeHang(stall, stalls, scene), gone, isOrderKnown, left, finished };
      const broken = { ...told, wasBusy: false };
      return found('broke off', { kind: 'broken', broken }, { stands: true, isSure: true, because });
    });
  const [perhaps] = breaks;
  return perhaps ? doubt('broke off', true, unclearBreak(perhaps, scene)) : [];
};

/** All ranks ended or were killed in the middle of work. If it stood still before, or a rank disappeared, that is told instead. */
export const jobEnded: Rule = (scene, before) => {
  const left = inCauseOrder(
    scene.left.filter((one) => !isTold(one, before)),
    scene,
  );
  const [ended] = left;
  if (!ended) return [];
  const stands = stoodStill(ended, scene);
  return causesFirst(left, scene, (one, because) => {
    const broken = { ...brokenInMidst(one, left, scene), wasBusy: !stands };
    return found('job ended', { kind: 'broken', broken }, { stands, isSure: false, because });
  });
};

const isTold = ({ commId }: Stall, before: readonly Found[]): boolean =>
  before.some(
    ({ about }) => about.kind !== 'waiting' && commId !== null && stallOf(about)?.commId === hex64(commId),
  );

function brokenInMidst(ended: Stall, left: readonly Stall[], evidence: Case): Omit<Broken, 'wasBusy'> {
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
      isStopped: false,
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

export const findBreaks = (evidence: Case): Break[] =>
  findUnfinished(evidence).flatMap((stall) => breakOf(stall, evidence) ?? []);

function breakOf(stall: Stall, evidence: Case): Break | null {
  const { ranks } = evidence;
  const isClosed = (file: number): boolean => ranks[file]!.life.isClosed;
  const surely = stall.works.filter(({ work }) => work.lostSince === 0 && isOwn(work));
  const left = [...new Set(surely.map(({ file }) => file))].filter(isClosed).sort((a, b) => a - b);
  const finished = finishedBy(stall, evidence);
  const parties = stall.collective
    ? stall.files.filter((file) => !finished.includes(file))
    : [...stall.works.map(({ file }) => file), ...stall.absent];
  // If a rank became silent later, the others did not leave because of it.
  const gone = silentAmong(stall.files, evidence, stall.since).filter(
    ({ file, lastSign, mayBeCopy }) =>
      !mayBeCopy &&
      parties.includes(file) &&
      // If the job went on long without this rank, its file is an older copy.
      (lastSign === null || stall.since - lastSign <= SILENT_AFTER) &&
      othersEndedAfter(file, [...left, ...finished], evidence),
  );
  if (gone.length === 0) return null;
  // If the others finished the work, only this file shows it unfinished, and the file is older than their last move.
  const until = left.length > 0 ? stall.since : lastSignOf([...parties, ...finished], ranks);
  const ended = [...left, ...finished].filter(isClosed);
  return {
    isSure: left.length > 0 || gone.every(({ file }) => ranks[file]!.life.isNoEarlierCopy),
    stall: { ...stall, until: Math.max(stall.until, until) as TraceNs },
    gone,
    isOrderKnown: isOrderKnown(gone, ended, evidence),
    left,
    finished: finished.filter(isClosed),
  };
}

/** The job ended in the middle of work: no rank is left, and a rank that had not finished ended in order or has certainly died. */
export function endedInMidst(evidence: Case): Stall[] {
  const { ranks, processes } = evidence;
  const isOver = (file: number): boolean => ranks[file]!.life.isClosed || ranks[file]!.life.isGone;
  if (processes.some(({ state }, file) => state === 'alive' && !isOver(file))) return [];
  // An older collective may look unfinished only because a file was not closed and lacks its last records.
  return (
    findUnfinished(evidence, ({ open, aborted }) => [...open, ...aborted].some(isOver))
      .filter(
        ({ works, inside }) =>
          works.some(({ file, work }) => isOver(file) && work.lostSince === 0 && isOwn(work)) ||
          inside.some(({ file, hasReturned }) => isOver(file) && hasReturned),
      )
      // Ranks that finished it may have moved after the others had ended.
      .map((stall) => ({ ...stall, until: Math.max(stall.until, stall.since) as TraceNs }))
  );
}

/**
 * The evidence without what ended unseen: its data had arrived on all ranks, and the ranks left before NCCL could report that their GPUs had
 * taken them, by an exit without ncclCommDestroy, or by ncclCommAbort when all others had finished it. A difference of the calls stays.
 */
export function withoutExits(evidence: Case): Case {
  const { ranks } = evidence;
  const wereLeft = (stall: Stall): boolean =>
    wasLeft(stall, evidence) && stall.until - stall.since < (evidence.hungAfter ?? HUNG_AFTER);
  const unseen = endedInMidst(evidence).filter(
    (stall) =>
      (!stoodStill(stall, evidence) || wereLeft(stall)) &&
      hadAllData(stall, ranks) &&
      stall.works.every(
        ({ file, work }) => commOf(ranks[file]!, work)?.finalized === null || wereLeft(stall),
      ),
  );
  if (unseen.length === 0) return evidence;
  const rest = withoutStalls(unseen, evidence);
  const counted = rest.ranks.map((rank, file): RankWitness => {
    const ended = ranks[file]!.pending.works.length - rank.pending.works.length;
    return { ...rank, pending: { ...rank.pending, endsNotKnown: rank.pending.endsNotKnown + ended } };
  });
  return { ...rest, ranks: counted };
}

/** All came and called the same, and all its data had arrived on all ranks, which then exited. */
const hadAllData = ({ absent, collective, works }: Stall, ranks: readonly RankWitness[]): boolean =>
  absent.length + (collective?.different.length ?? 0) === 0 &&
  works.every(
    ({ file, work: { ops } }) =>
      ranks[file]!.life.isClosed &&
      ops.length > 0 &&
      ops.every(({ isSend, wait }) => !isSend && wait?.name === Wait.Gpu),
  );

/** All ranks finalized the communicator, and most had finished this. */
const wasLeft = ({ commId, works, files }: Stall, { ranks }: Case): boolean =>
  2 * works.length < files.length && files.every((file) => leftAt(commId, ranks[file]!) !== null);

/** Nobody waited for it, so it may have ended unseen. If it lasted, its GPU may as well have hung. */
export const mayHaveEndedUnseen = (stall: Stall, evidence: Case): boolean =>
  wasLeft(stall, evidence) && hadAllData(stall, evidence.ranks);

/** Whether the order is known: none of the others ended while a heartbeat was still due. */
const isOrderKnown = (
  gone: readonly Silent[],
  ended: readonly number[],
  { ranks, clockBound }: Case,
): boolean =>
  gone.every(({ file, lastSign }) =>
    ended.every((other) => {
      const end = ranks[other]!.life.lastSign;
      return (
        lastSign !== null && end !== null && end - clockBound(file, other, end) - lastSign > SILENT_AFTER
      );
    }),
  );

/** The work has operations of its own process. Operations that other processes execute (PXN) prove less: those files may be older copies. */
const isOwn = ({ ops }: PendingWork): boolean =>
  ops.length === 0 || ops.some(({ executor }) => executor === null);

function finishedBy({ collective, commId }: Stall, { comms }: Case): number[] {
  const comm = comms.find((one) => one.commId === commId);
  if (!collective || !comm) return [];
  const { open, aborted } = collective;
  return enteredBy(comm, collective).filter((file) => !open.includes(file) && !aborted.includes(file));
}
