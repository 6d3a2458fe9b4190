/** The ranks that the verdict suspects, and the part of the run that deserves all details. */

import type { SuspectLabel } from '../../base/suspect_labels.js';
import { Wait } from '../../model/waits.js';
import type {
  Detail,
  Finding,
  Hang,
  Lateness,
  Mismatch,
  Silent,
  SlowSends,
  SomeRanks,
  Verdict,
} from '../types.js';

/** If there are more suspects than this, they prove nothing about any rank. */
const MOST = 8;

/** The stall, whether it is called a hang, WAITING or BROKEN OFF. */
export function stallOf(verdict: Detail): Hang | null {
  if (verdict.kind === 'hung') return verdict.hang;
  if (verdict.kind === 'broken') return verdict.broken.stall;
  return verdict.kind === 'waiting' ? verdict.waiting.stall : null;
}

/** The rank that comes late, or GPU that is slow; null: it is not this. */
export const latenessOf = (verdict: Detail): Lateness | null =>
  verdict.kind === 'slow' && verdict.slow.on !== 'link' ? verdict.slow : null;

/** The connection that slows the run down; null: it is not this. */
export const slowLinkOf = (verdict: Detail): SlowSends['link'] | null =>
  verdict.kind === 'slow' && verdict.slow.on === 'link' ? verdict.slow.link : null;

/** What else is the matter, where the headline is that ranks made different calls. */
export const besides = ({ findings }: Verdict): Finding | undefined =>
  findings.find(({ kind }) => kind !== 'mismatch');

export interface Suspect {
  readonly file: number;
  readonly label: SuspectLabel;
}

/** The most suspect first. */
export function suspectsOf(verdict: Verdict): Suspect[] {
  const silent = new Set(silentIn(verdict).map(({ file }) => file));
  const found = new Map<number, SuspectLabel>();
  for (const [file, label] of accused(verdict)) {
    if (file === null || found.has(file)) continue;
    // A silent rank gets the label SILENT, even if others apply, too.
    found.set(file, silent.has(file) && label !== 'GONE' && label !== 'STOPPED' ? 'SILENT' : label);
  }
  return [...found].slice(0, MOST).map(([file, label]) => ({ file, label }));
}

/** By file: whether the process is silent. A trace must not draw its work after its last sign. */
export const silentFiles = ({ states }: Verdict): boolean[] =>
  states.map((state) => state === 'silent' || state === 'copy');

/** Files, the most suspect first. */
export const suspects = (verdict: Verdict): number[] => suspectsOf(verdict).map(({ file }) => file);

function silentIn(verdict: Detail): readonly Silent[] {
  if (verdict.kind === 'unclear') return verdict.unclear.silent;
  return stallOf(verdict)?.silent ?? [];
}

/** Files may come twice. null: the rank that is the other side of `front`. */
export function* accused(
  verdict: Detail,
): Generator<readonly [file: number | null, label: SuspectLabel, some?: SomeRanks]> {
  if (verdict.kind === 'slow') {
    const { slow } = verdict;
    const alone = [{ file: slow.file, inComm: [slow.inComm] }];
    if (slow.on === 'link') for (const { file, ...some } of alone) yield [file, 'SLOW SENDS', some];
    else {
      const ofNode = slow.taker?.node?.files.map((file): { file: number } & SomeRanks => ({ file }));
      const late = slow.together.length > 0 ? slow.together : (ofNode ?? alone);
      for (const { file, ...some } of late) yield [file, 'LATE', some];
    }
  }
  if (verdict.kind === 'mismatch') {
    for (const file of strangersIn(verdict.mismatch)) yield [file, 'OTHER CALL'];
  }
  if (verdict.kind === 'broken' && verdict.broken.wasBusy) return;
  if (verdict.kind === 'broken') {
    const { gone, isOrderKnown, left, finished, stall } = verdict.broken;
    // If all ranks of the stall were killed, only the stall shows a culprit.
    if (gone.length > 1 && left.length + finished.length === 0) yield* accusedOf(stall);
    const sides = [
      gone.map(({ file }) => [file, 'GONE'] as const),
      isOrderKnown ? [] : left.map((file) => [file, 'LEFT'] as const),
    ];
    // One rank aborted and all others were killed because of it, or one was killed and all others left.
    yield* sides.sort((a, b) => a.length - b.length).flat();
  }
  if (verdict.kind === 'unclear') {
    const { idle, silent, late } = verdict.unclear;
    if (late) yield [late.file, 'LATE'];
    for (const { files } of idle?.behind ?? []) for (const file of files) yield [file, 'BEHIND'];
    for (const { file, mayBeCopy } of silent) if (!mayBeCopy) yield [file, 'SILENT'];
  }
  const stall = stallOf(verdict);
  if (stall) yield* accusedOf(stall);
}

/** Ranks that made the most frequent call are witnesses, not suspects. If two calls are alike frequent, nobody is. */
export const strangersIn = (mismatch: Mismatch): number[] =>
  isTie(mismatch)
    ? []
    : mismatch.ways
        .slice(mismatch.what === 'sizes' ? 0 : 1)
        .flatMap(({ entered }) => entered.map(({ file }) => file));

const isTie = ({ what, ways: [most, other] }: Mismatch): boolean =>
  (what === 'calls' || what === 'arguments') && most.entered.length === other.entered.length;

function* accusedOf(stall: Hang): ReturnType<typeof accused> {
  const { neverEntered, inside, circle, different, ended, front, kernels, silent, unseen, unhanded } = stall;
  // All ranks except the wrong one may differ from most. So few ranks are suspects, and many are witnesses. Ranks may die because of a
  // mismatch, so the mismatch comes first.
  if (different.length <= MOST / 2) for (const file of different) yield [file, 'OTHER CALL'];
  for (const { file, isStopped } of goneFirst(stall)) yield [file, isStopped ? 'STOPPED' : 'SILENT'];
  // Each side never entered the other's call.
  if (stall.mismatch && isTie(stall.mismatch)) return;
  for (const file of stall.alone) yield [file, 'ALONE'];
  if (stall.alone.length > 0) return;
  for (const { file } of circle) yield [file, 'STUCK'];
  for (const { file } of ended) yield [file, 'GONE'];
  for (const { file, inComm } of neverEntered) yield [file, 'NOT CALLED', inComm ? { inComm } : {}];
  for (const { file, inComm } of unseen?.last ?? []) yield [file, 'STUCK', inComm ? { inComm } : {}];
  for (const { file } of unhanded) yield [file, 'INSIDE NCCL'];
  // The peer is not known, so both sides are suspects.
  for (const { file, func } of inside) if (TRANSFERS.includes(func)) yield [file, 'STUCK'];
  for (const { file, isLeast } of kernels) if (isLeast) yield [file, 'STUCK'];
  if (!kernels.some(({ isLeast }) => isLeast)) yield* frontFiles(front);
  for (const { file } of silent) yield [file, 'SILENT'];
  for (const { stuckIn } of neverEntered) yield* frontFiles(stuckIn?.front ?? null);
}

/** Ranks that became silent before the stall, or at about its begin, come first. None if most of the communicator's ranks became silent. */
export function goneFirst({ silent, since, nRanks, members }: Hang): readonly Silent[] {
  const gone = silent.filter(({ lastSign }) => lastSign === null || lastSign <= since + GONE_WITHIN);
  const own = gone.filter(({ file }) => members.includes(file));
  // Up to interface v3 NCCL does not report how many ranks there are.
  const size = Math.max(nRanks, members.length);
  return 2 * (own.length > 0 ? own : gone).length > size ? [] : gone;
}

const TRANSFERS: readonly string[] = ['Send', 'Recv'];

/** ns: a heartbeat or two may follow the last move. */
const GONE_WITHIN = 3e9;

/** The rank that waits for its own GPU, or those of its node that it may wait for, or else the rank for which it waits. */
function* frontFiles(front: Hang['front']): ReturnType<typeof accused> {
  if (front === null) return;
  const { file, peerFile, inComm, peerInComm, node, wait, peerIsPast, isUnposted } = front;
  const [it, other] = [{ inComm: [inComm] }, { inComm: [peerInComm] }];
  const needsPeer = (wait?.name === Wait.Recv || wait?.name === Wait.Peer) && !peerIsPast;
  if (node) for (const one of node.files) yield [one, 'STUCK'];
  else if (wait?.name === Wait.Gpu || isUnposted) yield [file, 'STUCK', it];
  else if (peerFile === null && needsPeer) yield [null, 'STUCK'];
  else {
    if (!needsPeer) yield [file, 'STUCK', it];
    yield [peerFile, 'STUCK', other];
    if (needsPeer) yield [file, 'STUCK', it];
  }
}

/** The verdict's communicator; null: none. */
export function suspectComm(
  verdict: Verdict,
): { readonly comm: string; readonly commId: string | null } | null {
  if (verdict.kind === 'slow') return verdict.slow;
  if (verdict.kind === 'mismatch') return verdict.mismatch;
  return stallOf(verdict);
}

/** Ring neighbours in that communicator: a suspect sends to them and receives from them. */
export function neighbours(
  files: readonly number[],
  commId: string | null,
  communicators: readonly (readonly Neighbour[])[],
): number[] {
  const byRank = new Map<number, number>();
  let nRanks = 0;
  communicators.forEach((list, file) => {
    for (const comm of list) {
      if (commId === null || comm.commId !== BigInt(commId)) continue;
      byRank.set(comm.rank, file);
      nRanks = comm.nRanks;
    }
  });
  const found = new Set<number>();
  for (const [rank, file] of byRank) {
    if (!files.includes(file) || nRanks < 2) continue;
    for (const near of [rank + nRanks - 1, rank + 1]) found.add(byRank.get(near % nRanks) ?? file);
  }
  return [...found].filter((file) => !files.includes(file));
}

interface Neighbour {
  readonly commId: bigint;
  readonly rank: number;
  readonly nRanks: number;
}
