/** Sends and receives that did not go on. */

import { addTo } from '../base/grouped.js';
import { maxOf } from '../base/extremes.js';
import { hex64 } from '../base/hex.js';
import type { TraceNs } from '../base/time.js';
import { membersOf, ranksInComm } from './absence.js';
import { tanglesIn, type Tangle } from './circle.js';
import { commOf, knownUntilOf, lastMoveIn } from './case.js';
import type { EnteredCall, RankWitness } from './file_facts.js';
import { placesOf, type FileWork } from './wait_chains.js';
import { firstWorks, OTHER_SIDE, TRANSFER_MAY_TAKE, type Stall } from './stall.js';
import type { Way } from './types.js';

/**
 * Sends and receives, except those that were called after the communicator's stuck collective: their other sides may still stand in it. Also
 * collectives that cannot be joined, because their communicator has no id.
 */
export function looseStalls(ranks: readonly RankWitness[], covered: ReadonlyMap<bigint, Stall>): Stall[] {
  const groups = new Map<string, FileWork[]>();
  ranks.forEach((rank, file) => {
    for (const work of rank.pending.works) {
      const commId = commOf(rank, work)?.commId ?? 0n;
      const stuck = covered.get(commId);
      if (stuck && (work.seq !== null || work.start >= calledAt(stuck, file, ranks))) continue;
      const key = commId === 0n ? `${file} ${work.comm}` : `${commId}`;
      addTo(groups, key, { file, work });
    }
  });
  return [...groups.values()].flatMap((works) => {
    const atWork = new Set(works.map(({ file }) => file));
    return tanglesIn(works, ranks).map((one) => looseStall(one, atWork, ranks));
  });
}

/** Also if it has ended for this file, as a reduction does for who is not its root. Infinity: not known. */
function calledAt(stall: Stall, file: number, ranks: readonly RankWitness[]): number {
  const { commId, collective } = stall;
  const open = firstWorks(stall).get(file);
  if (open) return open.start;
  const { calls } = ranks[file]!;
  // Of several ranks in one process another one may have called it.
  const isKnown = commId !== null && collective !== null && ranksInComm(ranks[file]!, commId).length === 1;
  return (isKnown ? calls.entered(commId, collective)?.at : null) ?? Infinity;
}

/** `atWork`: files with unfinished work in its communicator, in this tangle or another. */
function looseStall(
  { works, circle }: Tangle,
  atWork: ReadonlySet<number>,
  ranks: readonly RankWitness[],
): Stall {
  const [{ file, work }] = works as [FileWork];
  const comm = commOf(ranks[file]!, work);
  const commId = comm === null || comm.commId === 0n ? null : comm.commId;
  const files = membersOf(commId, comm?.nRanks ?? 0, ranks);
  const known = commId === null ? [file] : files;
  const begin = works.reduce((latest, { work: one }) => Math.max(latest, one.start), 0);
  const moved = (i: number): number =>
    commId === null ? (ranks[i]!.pace.lastMove.get(work.comm ?? -1) ?? 0) : lastMoveIn(commId, ranks[i]!);
  const alone = withoutOtherSide(works, commId, ranks);
  const wrong = wrongPeers(alone);
  const waiting = works.map((one) => one.file);
  const finals = works.map((one) => commOf(ranks[one.file]!, one.work)?.finalized ?? null);
  return {
    commId,
    name: comm?.name ?? '',
    nRanks: comm?.nRanks ?? 0,
    files,
    collective: null,
    works,
    inside: [],
    circle,
    ...(wrong.length > 0
      ? { absent: [], strayed: wrong, unmatched: alone }
      : { absent: idlePeers(works, atWork, commId, ranks) }),
    partlyAbsent: [],
    since: known.reduce((latest, i) => Math.max(latest, moved(i)), begin) as TraceNs,
    until: finals.reduce<TraceNs>(
      (least, at) => (at !== null && at < least ? at : least),
      knownUntilOf(waiting, ranks),
    ),
    mayTake: longestTransfer(known, ranks) ?? TRANSFER_MAY_TAKE,
    longestBefore: longestTransfer(known, ranks) ?? 0,
  };
}

/**
 * The other sides of unfinished sends and receives, if they have no unfinished work in this communicator. A rank that has finished its side
 * is not missing: its data did not arrive.
 */
function idlePeers(
  works: readonly FileWork[],
  atWork: ReadonlySet<number>,
  commId: bigint | null,
  ranks: readonly RankWitness[],
): number[] {
  const { fileOf } = placesOf(ranks, commId);
  const peers = works.flatMap((one) => {
    const peer = one.work.peer === null ? null : fileOf(one.work.peer);
    return peer === null || beganItsSide(one, peer, commId, ranks) ? [] : [peer];
  });
  const idle = [...new Set(peers)].filter((file) => !atWork.has(file) && !ranks[file]!.lacks.isDamaged);
  return idle.sort((a, b) => a - b);
}

type Alone = NonNullable<Stall['unmatched']>[number] & { readonly hasPassed: boolean };

/** Sends and receives whose other side was certainly never called. */
function withoutOtherSide(
  works: readonly FileWork[],
  commId: bigint | null,
  ranks: readonly RankWitness[],
): Alone[] {
  const { fileOf } = placesOf(ranks, commId);
  const found = new Map<string, Alone>();
  for (const one of works) {
    const { file, work } = one;
    const peerFile = work.peer === null ? null : fileOf(work.peer);
    if (peerFile === null || peerFile === file || beganItsSide(one, peerFile, commId, ranks)) continue;
    const { reach, lacks, calls } = ranks[peerFile]!;
    const hasPassed = commId !== null && (calls.newest(commId)?.at ?? 0) > work.start;
    if (reach.isPartial || lacks.isDamaged) continue;
    const key = `${file} ${work.func} ${peerFile}`;
    found.set(key, { file, func: work.func, peerFile, by: (found.get(key)?.by ?? 0) + 1, hasPassed });
  }
  return [...found.values()];
}

/** A rank that lacks a call, and made one too many with a peer that went on without: it named another peer than it should. */
const wrongPeers = (alone: readonly Alone[]): number[] => [
  ...new Set(
    alone.flatMap(({ file, func, peerFile, hasPassed }) =>
      alone.flatMap((other) =>
        hasPassed && other.func !== func && file === other.peerFile && peerFile !== other.file ? [file] : [],
      ),
    ),
  ),
];

const beganItsSide = (
  one: FileWork,
  peerFile: number,
  commId: bigint | null,
  ranks: readonly RankWitness[],
): boolean => sidesOf(one, peerFile, commId, ranks) !== null;

/** The send or receive, and the one with the same number between these two ranks on the other side. null: not both are known. */
export function sidesOf(
  { file, work }: FileWork,
  peerFile: number,
  commId: bigint | null,
  ranks: readonly RankWitness[],
): readonly [own: EnteredCall, other: EnteredCall] | null {
  const rank = commOf(ranks[file]!, work)?.rank;
  const { func, peer, ordinal } = work;
  const otherFunc = OTHER_SIDE[func];
  if (commId === null || rank === undefined || peer === null || otherFunc === undefined) return null;
  const own = ranks[file]!.calls.transferred(commId, { rank, func, peer, ordinal });
  const there = { rank: peer, func: otherFunc, peer: rank, ordinal };
  const other = own && ranks[peerFile]!.calls.transferred(commId, there);
  return own && other ? [own, other] : null;
}

/** As one of the ways to call. */
export const transferWay = (
  { func, count, datatype, root, record, at }: EnteredCall,
  file: number,
  { commId, name }: { readonly commId: bigint; readonly name: string },
): Way => ({
  ...{ commId: hex64(commId), comm: name, func, seq: null, replay: 0 },
  ...{ count, datatype, root, entered: [{ file, record, at }] },
});

/** null: no transfer ended. */
function longestTransfer(files: readonly number[], ranks: readonly RankWitness[]): number | null {
  const ended = files.flatMap((file) => ranks[file]!.pace.longestTransfer ?? []);
  return ended.length === 0 ? null : maxOf(ended);
}
