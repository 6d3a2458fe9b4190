/** On whom the verdict's eye rests, and what to look at: the part of the run that is worth all details. */

import { Wait } from '../../model/waits.js';
import type { Hang, Silent, Verdict, VerdictKind } from '../types.js';

/** More than this many at once say nothing about any of them. */
const MOST = 8;

/** What stands still, called a hang or not yet; or stood when it broke off. */
export function standstillOf(verdict: VerdictKind): Hang | null {
  if (verdict.kind === 'hung') return verdict.hang;
  if (verdict.kind === 'broken') return verdict.broken.stands;
  return verdict.kind === 'waiting' ? verdict.waiting.stands : null;
}

/** Files, the most suspect first. */
export function suspects(verdict: Verdict): number[] {
  const files: (number | null)[] = [];
  if (verdict.kind === 'slow') files.push(verdict.slow.file);
  if (verdict.kind === 'mismatch') {
    // Those who called it as most did are witnesses.
    const [, ...others] = verdict.mismatch.ways;
    files.push(...others.flatMap(({ entered }) => entered.map(({ file }) => file)));
  }
  if (verdict.kind === 'broken') {
    const { gone, isOrderKnown, left } = verdict.broken;
    const sides = [gone.map(({ file }) => file), isOrderKnown ? [] : left];
    // One that raised, and all others killed for it; or one that was killed, and all others left.
    sides.sort((a, b) => a.length - b.length);
    files.push(...sides.flat());
  }
  if (verdict.kind === 'unclear') {
    const { idle, silent } = verdict.unclear;
    files.push(...(idle?.behind ?? []).flatMap((one) => one.files));
    files.push(...silent.filter(({ mayBeCopy }) => !mayBeCopy).map(({ file }) => file));
  }
  const standstill = standstillOf(verdict);
  if (standstill) {
    const { neverEntered, inside, different, front, kernels, silent } = standstill;
    files.push(...goneFirst(standstill, Infinity).map(({ file }) => file));
    files.push(...neverEntered.map(({ file }) => file));
    // Whose peer is not told: both sides.
    files.push(...inside.filter(({ func }) => TRANSFERS.includes(func)).map(({ file }) => file));
    // The ranks that differ may be all but the one that is wrong: few are suspects, many are witnesses.
    if (different.length <= MOST / 2) files.push(...different);
    files.push(...kernels.filter(({ isLeast }) => isLeast).map(({ file }) => file));
    files.push(...frontFiles(front), ...silent.map(({ file }) => file));
    for (const { standsIn } of neverEntered) files.push(...frontFiles(standsIn?.front ?? null));
  }
  return [...new Set(files.filter((file) => file !== null))].slice(0, MOST);
}

/** Who fell silent about when it stood, before all that wait for them; none where most did, or as copies may look so. */
export function goneFirst({ silent, since, waiting }: Hang, files: number): readonly Silent[] {
  const gone = silent.filter(
    ({ mayBeCopy, lastSign }) => !mayBeCopy && (lastSign === null || lastSign <= since + GONE_WITHIN),
  );
  return gone.length > MOST / 2 ||
    2 * gone.length > Math.min(files, Math.max(2, waiting.length + gone.length))
    ? []
    : gone;
}

const TRANSFERS: readonly string[] = ['Send', 'Recv'];

/** ns: a heartbeat or two may come after the last that moved. */
const GONE_WITHIN = 3e9;

/** Who waits for its own GPU is to be looked at; else whom it waits for first. */
function frontFiles(front: Hang['front']): (number | null)[] {
  if (front === null) return [];
  const needsPeer = front.wait?.name === Wait.Recv || front.wait?.name === Wait.Peer;
  return needsPeer ? [front.peerFile, front.file] : [front.file, front.peerFile];
}

/** The communicator that the verdict speaks of; null: none. */
export function suspectComm(
  verdict: Verdict,
): { readonly comm: string; readonly commId: string | null } | null {
  if (verdict.kind === 'slow') return verdict.slow;
  if (verdict.kind === 'mismatch') return verdict.mismatch;
  return standstillOf(verdict);
}

/** Ring neighbours in that communicator, whom a suspect sends to and receives from. */
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
