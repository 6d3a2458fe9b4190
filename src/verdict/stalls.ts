/** What stands still: per communicator the collective, or the sends and receives, that did not go on. */

import type { TraceNs } from '../base/time.js';
import type { ClusterComm, Collective } from '../cluster/types.js';
import type { Standing } from './front.js';
import type { Evidence } from './judge.js';
import type { RankWitness, WitnessedComm, WitnessedWork } from './types.js';

/** Nothing shorter is called a hang, ns. */
const SHORTEST_HANG = 1e9;
/** Where no send or receive ever ended, ns: a receive may be posted long before its send. */
const TRANSFER_MAY_TAKE = 5e9;

export interface Stall {
  /** null: not told. */
  readonly commId: bigint | null;
  readonly name: string;
  readonly nRanks: number;
  /** Files that speak of the communicator. */
  readonly files: readonly number[];
  /** null: sends/receives, or collectives of a communicator without an id. */
  readonly collective: Collective | null;
  /** Unfinished, of this collective. */
  readonly works: readonly Standing[];
  /** Never entered, and would have been recorded. */
  readonly absent: readonly number[];
  readonly since: TraceNs;
  readonly until: TraceNs;
}

export function endOfRun(ranks: readonly RankWitness[]): TraceNs {
  let end = 0;
  for (const { lastSign, lastMove } of ranks)
    for (const at of [lastSign ?? 0, ...lastMove.values()]) end = Math.max(end, at);
  return end as TraceNs;
}

export function findStalls({ comms, ranks }: Evidence): Stall[] {
  const end = endOfRun(ranks);
  const standing = new Map(comms.flatMap((comm) => standingOne(comm, ranks, end) ?? []));
  const joined = [...standing].map(([comm, collective]) => stallOf(comm, collective, ranks, end));
  const covered = new Set([...standing.keys()].map(({ commId }) => commId));
  return [
    ...joined.filter(({ stall, longest }) => isLong(stall, longest)).map(({ stall }) => stall),
    ...looseStalls(ranks, covered, end).filter((stall) => isLong(stall, longestTransfer(stall, ranks))),
  ];
}

/** Nor what is shorter than the longest that the communicator ever finished, with all its waiting. */
const isLong = ({ since, until }: Stall, longest: number): boolean =>
  until - since >= Math.max(SHORTEST_HANG, longest);

function longestTransfer({ files }: Stall, ranks: readonly RankWitness[]): number {
  const ended = files.flatMap((file) => ranks[file]!.longestTransfer ?? []);
  return ended.length === 0 ? TRANSFER_MAY_TAKE : Math.max(...ended);
}

/** The oldest collective that did not come to its end. */
function standingOne(
  comm: ClusterComm,
  ranks: readonly RankWitness[],
  end: TraceNs,
): [[ClusterComm, Collective]] | null {
  const unfinished = comm.collectives.filter(
    (one) =>
      one.open.length + one.aborted.length > 0 ||
      (one.end === null && absentFrom(one, ranks, end).length > 0),
  );
  const [oldest] = unfinished;
  if (!oldest) return null;
  // Ranks that entered different ones exclude each other: then most of them are right, and the others strayed.
  const rivals = unfinished.filter((one) => one === oldest || excludeEachOther(one, oldest));
  const most = rivals.reduce((a, b) => (entered(b).length > entered(a).length ? b : a));
  return [[comm, most]];
}

const entered = ({ open, aborted }: Collective): readonly number[] => [...open, ...aborted];
const excludeEachOther = (a: Collective, b: Collective): boolean =>
  entered(a).some((file) => b.absent.includes(file)) && entered(b).some((file) => a.absent.includes(file));

/** A file whose records begin later or end soon after cannot tell that its rank did not come. */
function absentFrom(
  { absent, firstArrival }: Collective,
  ranks: readonly RankWitness[],
  end: TraceNs,
): number[] {
  return absent.filter((file) => {
    const { knownFrom, knownUntil } = ranks[file]!;
    return knownFrom <= firstArrival && Math.min(knownUntil, end) - firstArrival >= SHORTEST_HANG;
  });
}

function stallOf(comm: ClusterComm, collective: Collective, ranks: readonly RankWitness[], end: TraceNs) {
  const { commId, name, nRanks, files, collectives } = comm;
  const isAborted = collective.open.length === 0 && collective.aborted.length > 0;
  const works = entered(collective).flatMap((file) =>
    ranks[file]!.works.flatMap((work) =>
      isOf(ranks[file]!, work, comm, collective) ? [{ file, work }] : [],
    ),
  );
  const since = files.reduce<number>(
    (latest, file) => Math.max(latest, lastMoveIn(commId, ranks[file]!)),
    collective.firstArrival,
  );
  const stall: Stall = {
    commId,
    name,
    nRanks,
    files,
    collective,
    works,
    absent: absentFrom(collective, ranks, end),
    since: since as TraceNs,
    until: isAborted ? (collective.end ?? end) : end,
  };
  // The first one lasts as long as the ranks take to start up.
  const finished = collectives.slice(1).filter((one) => one.end !== null && entered(one).length === 0);
  const longest = finished.reduce((most, one) => Math.max(most, one.end! - one.firstArrival), 0);
  return { stall, longest };
}

function isOf(rank: RankWitness, work: WitnessedWork, { commId }: ClusterComm, one: Collective): boolean {
  const isSame = work.func === one.func && work.seq === one.seq && work.ordinal === one.ordinal;
  return isSame && commOf(rank, work)?.commId === commId;
}

function lastMoveIn(commId: bigint, { communicators, lastMove }: RankWitness): number {
  let latest = 0;
  for (const [number, comm] of communicators)
    if (comm.commId === commId) latest = Math.max(latest, lastMove.get(number) ?? 0);
  return latest;
}

/** Sends and receives, and collectives that no other file can be asked about: communicators without an id. */
function looseStalls(ranks: readonly RankWitness[], covered: ReadonlySet<bigint>, end: TraceNs): Stall[] {
  const groups = new Map<string, Standing[]>();
  ranks.forEach((rank, file) => {
    for (const work of rank.works) {
      const commId = commOf(rank, work)?.commId ?? 0n;
      if (covered.has(commId)) continue;
      const key = commId === 0n ? `${file} ${work.comm}` : `${commId}`;
      groups.set(key, [...(groups.get(key) ?? []), { file, work }]);
    }
  });
  return [...groups.values()].map((works) => looseStall(works, ranks, end));
}

function looseStall(works: readonly Standing[], ranks: readonly RankWitness[], end: TraceNs): Stall {
  const [{ file, work }] = works as [Standing];
  const comm = commOf(ranks[file]!, work);
  const commId = comm === null || comm.commId === 0n ? null : comm.commId;
  const files =
    commId === null
      ? [file]
      : ranks.flatMap(({ communicators }, i) =>
          [...communicators.values()].some((one) => one.commId === commId) ? [i] : [],
        );
  const begun = works.reduce((latest, { work: one }) => Math.max(latest, one.start), 0);
  const moved = (i: number): number =>
    commId === null ? (ranks[i]!.lastMove.get(work.comm ?? -1) ?? 0) : lastMoveIn(commId, ranks[i]!);
  const finals = works.map((one) => commOf(ranks[one.file]!, one.work)?.finalized ?? null);
  return {
    commId,
    name: comm?.name ?? '',
    nRanks: comm?.nRanks ?? 0,
    files,
    collective: null,
    works,
    absent: [],
    since: files.reduce((latest, i) => Math.max(latest, moved(i)), begun) as TraceNs,
    until: finals.reduce<TraceNs>((least, at) => (at !== null && at < least ? at : least), end),
  };
}

export function commOf(rank: RankWitness, { comm }: WitnessedWork): WitnessedComm | null {
  return comm === null ? null : (rank.communicators.get(comm) ?? null);
}

/** A stall whose missing ranks stand in another one only waits for that one. Of several the oldest. */
export function causeOf(stalls: readonly Stall[], ranks: readonly RankWitness[]): Stall | null {
  const ranked = stalls.map((stall) => ({ stall, waitsForOthers: absentElsewhere(stall, stalls, ranks) }));
  ranked.sort((a, b) => a.waitsForOthers - b.waitsForOthers || a.stall.since - b.stall.since);
  return ranked[0]?.stall ?? null;
}

function absentElsewhere(stall: Stall, stalls: readonly Stall[], ranks: readonly RankWitness[]): number {
  const others = new Set(stalls.filter((other) => other !== stall).map(({ commId }) => commId));
  return stall.absent.filter((file) =>
    ranks[file]!.works.some((work) => {
      const comm = commOf(ranks[file]!, work);
      return comm !== null && comm.commId !== stall.commId && others.has(comm.commId);
    }),
  ).length;
}
