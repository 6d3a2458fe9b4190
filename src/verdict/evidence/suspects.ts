/** On whom the verdict's eye rests, and what to look at: the part of the run that is worth all details. */

import type { Hang, Verdict, VerdictKind } from '../types.js';

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
    const { neverEntered, different, front, kernels, silent } = standstill;
    files.push(...neverEntered.map(({ file }) => file));
    // The ranks that differ may be all but the one that is wrong: few are suspects, many are witnesses.
    if (different.length <= MOST / 2) files.push(...different);
    files.push(...kernels.filter(({ isLeast }) => isLeast).map(({ file }) => file));
    files.push(front?.file ?? null, front?.peerFile ?? null, ...silent.map(({ file }) => file));
    for (const { standsIn } of neverEntered) files.push(standsIn?.front?.peerFile ?? null);
  }
  return [...new Set(files.filter((file) => file !== null))].slice(0, MOST);
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
