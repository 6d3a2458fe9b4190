/** A stall in the terms people ask in: who never came, who waits, in what, for whom. */

import { hex64 } from '../base/hex.js';
import { filesOfComm, frontOf, waitsOf, type Standing } from './front.js';
import { commOf, endOfRun, type Stall } from './stalls.js';
import type { Hang, RankWitness, StandingCall, Stray } from './types.js';

/** Heartbeats come once a second; a recorder without any for so many ns is called silent, not dead. */
const SILENT_AFTER = 1.5e9;

export function describeHang(stall: Stall, stalls: readonly Stall[], ranks: readonly RankWitness[]): Hang {
  const { collective, works, files, nRanks, commId, since, until } = stall;
  const waiting = new Set([
    ...(collective?.open ?? []),
    ...(collective?.aborted ?? []),
    ...works.map((one) => one.file),
  ]);
  const silent = silentFiles(ranks);
  const missed = collective ? stall.absent : idlePeers(stall, ranks);
  const suspects = new Set([null, ...missed, ...silent.map(({ file }) => file)]);
  const present = new Set(files.flatMap((file) => ranksInComm(ranks[file]!, commId)));
  return {
    ...callOf(stall),
    nRanks,
    since,
    age: until - since,
    neverEntered: missed.map((file) => stray(file, ranks)),
    notKnown: collective
      ? [...collective.notKnown, ...collective.absent.filter((file) => !stall.absent.includes(file))]
      : [],
    different: collective?.different ?? [],
    waiting: [...waiting].sort((a, b) => a - b),
    aborted: [...new Set([...(collective?.aborted ?? []), ...abortedOf(works, ranks)])].sort((a, b) => a - b),
    waits: waitsOf(works),
    front: frontOf(works, filesOfComm(ranks, commId), suspects),
    missing:
      commId === null
        ? []
        : Array.from({ length: nRanks }, (_, rank) => rank).filter((rank) => !present.has(rank)),
    silent,
    alsoHung: stalls.filter((other) => other !== stall).map(callOf),
  };
}

function callOf({ commId, name, collective, works }: Stall): StandingCall {
  const first = works[0]?.work;
  const funcs = [...new Set(works.map(({ work }) => work.func))].sort();
  return {
    commId: commId === null ? null : hex64(commId),
    comm: name,
    func: collective?.func ?? funcs.join('/'),
    seq: collective?.seq ?? first?.seq ?? null,
    replay: collective?.ordinal ?? 0,
  };
}

const ranksInComm = ({ communicators }: RankWitness, commId: bigint | null): number[] =>
  [...communicators.values()].flatMap((comm) => (comm.commId === commId ? [comm.rank] : []));

const abortedOf = (works: readonly Standing[], ranks: readonly RankWitness[]): number[] =>
  works.flatMap(({ file, work }) => ((commOf(ranks[file]!, work)?.finalized ?? null) === null ? [] : [file]));

/** The other sides of unfinished sends and receives that have nothing unfinished in this communicator themselves. */
function idlePeers({ works, commId }: Stall, ranks: readonly RankWitness[]): number[] {
  const fileOf = filesOfComm(ranks, commId);
  const standing = new Set(works.map(({ file }) => file));
  const peers = works.flatMap(({ work }) => (work.peer === null ? [] : [fileOf(work.peer)]));
  return [...new Set(peers)].filter((file) => file !== null && !standing.has(file)).sort() as number[];
}

function stray(file: number, ranks: readonly RankWitness[]): Stray {
  const rank = ranks[file]!;
  const work = rank.works[0];
  if (!work) return { file, standsIn: null };
  const comm = commOf(rank, work);
  const commId = comm === null || comm.commId === 0n ? null : comm.commId;
  return {
    file,
    standsIn: {
      commId: commId === null ? null : hex64(commId),
      comm: comm?.name ?? '',
      func: work.func,
      seq: work.seq,
      replay: work.seq === null ? 0 : work.ordinal,
      record: work.record,
      front: frontOf([{ file, work }], filesOfComm(ranks, commId)),
    },
  };
}

function silentFiles(ranks: readonly RankWitness[]): Hang['silent'] {
  const end = endOfRun(ranks);
  return ranks.flatMap(({ lastSign, isClosed }, file) =>
    !isClosed && (lastSign === null || end - lastSign > SILENT_AFTER) ? [{ file, lastSign }] : [],
  );
}
