/**
 * Sends and receives without another side: NCCL pairs the nth send of a rank to another with that rank's nth receive from it. So their numbers
 * are compared, also where no record shows that they wait, as within a node.
 */

import { maxOf } from '../base/extremes.js';
import type { TraceNs } from '../base/time.js';
import { membersOf, SHORTEST_HANG } from './absence.js';
import { cached, knownUntilOf, lastMoveIn, laterBy, mismatchOn, type Case, type Facts } from './case.js';
import type { PendingWork } from '../model/pending.js';
import type { Communicator } from '../model/recording.js';
import type { EnteredCall, RankWitness } from './file_facts.js';
import { OTHER_SIDE, TRANSFER_MAY_TAKE, type Stall } from './stall.js';
import { transferWay } from './stalled_transfers.js';
import type { Mismatch } from './types.js';
import { placesOf, type FileWork } from './wait_chains.js';

interface Unmatched {
  readonly comm: Communicator<TraceNs>;
  readonly file: number;
  /** The first one without another side. */
  readonly call: EnteredCall;
  readonly func: string;
  readonly peer: number;
  readonly peerFile: number;
  /** How many more than the other side has. */
  readonly by: number;
}

/** Of ranks that called nothing on the communicator after it. */
export function unmatchedStalls(evidence: Case): Stall[] {
  const { ranks } = evidence;
  const stuck = unmatchedIn(evidence).filter(({ file, comm: { commId }, call }) => {
    const { calls, life, pending } = ranks[file]!;
    const isPending = pending.works.some(({ record }) => record === call.record);
    return !life.isClosed && !isPending && (calls.newest(commId)?.at ?? 0) < call.at;
  });
  return [...new Set(stuck.map(({ comm }) => comm.commId))].map((commId) => {
    const own = stuck.filter(({ comm }) => comm.commId === commId);
    const [{ comm }] = own as [Unmatched];
    const files = own.map(({ file }) => file);
    const moved = own.map(({ file, call }) => Math.max(call.at, lastMoveIn(commId, ranks[file]!)));
    return {
      commId,
      name: comm.name,
      nRanks: comm.nRanks,
      files: membersOf(commId, comm.nRanks, ranks),
      collective: null,
      works: own.map(workOf),
      inside: [],
      absent: [...new Set(own.map(({ peerFile }) => peerFile))].sort((a, b) => a - b),
      partlyAbsent: [],
      unmatched: own.map(({ file, func, peerFile, by }) => ({ file, func, peerFile, by })),
      since: maxOf(moved) as TraceNs,
      until: knownUntilOf(files, ranks),
      mayTake: TRANSFER_MAY_TAKE,
      longestBefore: 0,
    };
  });
}

const workOf = ({ file, func, peer, comm, call }: Unmatched): FileWork => {
  const work: PendingWork = {
    comm: comm.number,
    ...{ func, seq: null, peer, ordinal: call.ordinal, plan: '' },
    ...{
      start: call.at,
      group: null,
      record: call.record,
      ops: [],
      blocks: null,
      hasMoved: false,
      unhanded: null,
      lostSince: 0,
    },
  };
  return { file, work };
};

/** Both ranks went on to a later collective, and have ended. */
export const unmatchedAtEnd = (evidence: Facts): Mismatch[] =>
  unmatchedIn(evidence).flatMap(({ file, peerFile, call, func, peer, comm }) => {
    const { commId } = comm;
    const [own, other] = [evidence.ranks[file]!, evidence.ranks[peerFile]!];
    const later = other.calls.newest(commId);
    const newest = other.calls.transferred(commId, {
      ...{ rank: peer, func: OTHER_SIDE[func]!, peer: comm.rank, ordinal: call.ordinal - 1 },
    });
    const wentOn = later && (own.calls.entered(commId, later)?.at ?? 0) > call.at;
    if (!own.life.isClosed || !other.life.isClosed || !newest || !wentOn) return [];
    return [mismatchOn(comm, 'pairs', [transferWay(call, file, comm), transferWay(newest, peerFile, comm)])];
  });

/** Where both files have all calls up to a second after it. */
const unmatchedIn = cached((evidence: Facts): readonly Unmatched[] => {
  const { ranks } = evidence;
  return ranks.flatMap((rank, file) => {
    if (!isWhole(rank)) return [];
    return [...rank.communicators.values()].flatMap((comm) =>
      comm.commId === 0n ? [] : unmatchedOf(file, comm, evidence),
    );
  });
});

function unmatchedOf(file: number, comm: Communicator<TraceNs>, evidence: Facts): Unmatched[] {
  const { ranks } = evidence;
  const { commId, rank, number } = comm;
  const { fileOf } = placesOf(ranks, commId);
  return ranks[file]!.calls.transfers(number).flatMap(({ func, peer, count }): Unmatched[] => {
    const peerFile = fileOf(peer);
    if (peer === rank || peerFile === null || !isWhole(ranks[peerFile]!)) return [];
    const there = [...ranks[peerFile]!.communicators.values()].find(
      (one) => one.commId === commId && one.rank === peer,
    );
    const others = there ? ranks[peerFile]!.calls.transfers(there.number) : [];
    const other = others.find((one) => one.func === OTHER_SIDE[func] && one.peer === rank)?.count ?? 0;
    const call =
      count > other ? ranks[file]!.calls.transferred(commId, { rank, func, peer, ordinal: other }) : null;
    const { knownUntil } = ranks[peerFile]!.reach;
    return call && laterBy([peerFile, knownUntil], [file, call.at], evidence) >= SHORTEST_HANG
      ? [{ comm, file, call, func, peer, peerFile, by: count - other }]
      : [];
  });
}

const isWhole = ({ reach, lacks }: RankWitness): boolean =>
  Number.isFinite(reach.knownFrom) &&
  !reach.isPartial &&
  lacks.sampleEvery === 1 &&
  !lacks.isMuted &&
  !lacks.isDamaged &&
  lacks.unknownComms === 0 &&
  !lacks.notRecorded.includes('P2p');
