/** Made-up evidence: a few ranks, what each arrived at and how it left it, on one axis in seconds. */

import { narrow } from '../../src/base/columns.js';
import type { TraceNs } from '../../src/base/time.js';
import { joinCollectives } from '../../src/cluster/join.js';
import type { ClusterMember } from '../../src/cluster/collective_types.js';
import { endTable, type MadeUpEnd } from '../support/made_up/end_table.js';
import { Wait } from '../../src/model/waits.js';
import type { WorkTable } from '../../src/model/work_table.js';
import type { Facts } from '../../src/verdict/case.js';
import { rankCalls } from '../../src/verdict/facts/calls.js';
import type { PendingOp, PendingWork } from '../../src/model/pending.js';
import type { CallNumber, HostCalls, RankWitness } from '../../src/verdict/file_facts.js';

export interface MadeUpCall {
  /** Name of its communicator; 'world' if not said. */
  readonly comm?: string;
  readonly func?: string;
  /** null: a send or receive. */
  readonly seq: number | null;
  /** Of a send or receive. */
  readonly peer?: number;
  /** Number of its group of calls; not known if not said. */
  readonly group?: number;
  readonly at: number;
  /** null: not finished. */
  readonly end: number | null;
  /** It finished without a receive or a kernel. */
  readonly onlySent?: true;
  /** Its completion is not recorded. */
  readonly noEnd?: true;
  /** Its communicator was finalized then. */
  readonly finalized?: number;
  readonly count?: number;
  /** Of a Broadcast or Reduce. */
  readonly root?: number;
  readonly ops?: readonly PendingOp[];
  readonly blocks?: PendingWork['blocks'];
  readonly unhanded?: PendingWork['unhanded'];
  /** Not finished; and so many slots were lost since. */
  readonly lostSince?: number;
}

export interface MadeUpRank {
  readonly calls: readonly MadeUpCall[];
  /** Last sign of life; the run's end if not said. */
  readonly alive?: number;
  readonly closed?: true;
  readonly knownFrom?: number;
  readonly knownUntil?: number;
  /** Parts of its file are missing. */
  readonly damaged?: true;
  /** Its heartbeat was fresh when the file was read. */
  readonly isAlive?: true;
  /** Only the kernel says that it is alive. */
  readonly isLate?: true;
  /** A snapshot, say. */
  readonly isNoEarlierCopy?: true;
  readonly isGone?: true;
  readonly on?: RankWitness['architecture'];
  /** NCCL's interface; 6 if not said. */
  readonly abi?: number;
  /** Its exact version; not known if not said. */
  readonly nccl?: string;
  /** By SIGSTOP. */
  readonly isStopped?: true;
  readonly notRecorded?: readonly string[];
  /** 1 if not said. */
  readonly sampleEvery?: number | null;
  readonly isMuted?: true;
  /** Calls on `world` that have not returned. */
  readonly inside?: readonly { readonly func?: string; readonly at: number }[];
  /** Its calls are not recorded any more. */
  readonly hasNoCallsNow?: true;
  /** What it called on `world`, from the first call on. Absent: not known. */
  readonly asked?: readonly MadeUpAsked[];
  /** s: its longest earlier time without any record. */
  readonly longestQuiet?: number;
  /** s: its pauses are known for this long only. Absent: for the whole run. */
  readonly watched?: number;
}

export interface MadeUpAsked {
  readonly func?: string;
  readonly at: number;
  readonly count?: number;
  readonly root?: number;
  /** In one group with the call before. */
  readonly sameGroup?: true;
  /** Earlier calls may be lost. */
  readonly isLater?: true;
  /** The number of the collective that NCCL reported for it. */
  readonly told?: number;
  /** Only for the last call: its group has not ended. */
  readonly isOpen?: true;
}

interface MadeUpComm {
  readonly id: bigint;
  /** Files, by rank in the communicator; null: a rank without a file. */
  readonly members: readonly (number | null)[];
}

export const s = (seconds: number): TraceNs => (seconds * 1e9) as TraceNs;

export function evidence(
  ranks: readonly MadeUpRank[],
  options: {
    readonly end?: number;
    readonly comms?: Readonly<Record<string, MadeUpComm>>;
    readonly comparable?: boolean;
    /** Of each file's clock, s. */
    readonly clockBound?: number;
    /** s. */
    readonly hungAfter?: number;
    /** NCCL did not report how many ranks a communicator has. */
    readonly unknownSize?: true;
    /** s, by file: when its communicators were set up. Absent: not known. */
    readonly setUp?: readonly number[];
    readonly linkFaults?: Facts['linkFaults'];
    readonly longestSends?: Facts['longestSends'];
    /** Some rank of the job has no file. */
    readonly missing?: true;
  } = {},
): Facts {
  const { end = 100, comparable = true, clockBound = 0 } = options;
  const comms = options.comms ?? { world: { id: 1n, members: ranks.map((_, file) => file) } };
  const joined = joinCollectives(ranks.map((rank, file) => member(rank, file, comms)));
  return {
    comms: options.unknownSize ? joined.map((comm) => ({ ...comm, nRanks: 0 })) : joined,
    linkFaults: options.linkFaults ?? [],
    longestSends: options.longestSends ?? [],
    isWholeJob: options.missing === undefined,
    ranks: ranks.map((rank, file) => witness(rank, file, comms, end, options.setUp?.[file])),
    comparable: (files) => comparable || files.length < 2,
    clockBound: (a, b) => (a === b ? 0 : s(2 * clockBound)),
    oneOfEachClock: (files) => files,
    hungAfter: options.hungAfter === undefined ? null : s(options.hungAfter),
  };
}

type Comms = Readonly<Record<string, MadeUpComm>>;

const commsOf = (file: number, comms: Comms) =>
  Object.entries(comms).flatMap(([name, { id, members }], number) =>
    members.includes(file)
      ? [
          {
            number,
            commId: id,
            name,
            nRanks: members.length,
            nNodes: members.length,
            rank: members.indexOf(file),
          },
        ]
      : [],
  );

const numberOf = (comms: Comms, { comm = 'world' }: MadeUpCall): number => Object.keys(comms).indexOf(comm);
const funcOf = ({ func = 'AllReduce' }: MadeUpCall): string => func;

function tableOf({ calls }: MadeUpRank, comms: Comms): WorkTable {
  const funcs = [...new Set(calls.map(funcOf))];
  return {
    key: narrow(calls.map((_, row) => row)),
    group: narrow(calls.map(() => -1)),
    comm: narrow(calls.map((call) => numberOf(comms, call))),
    func: narrow(calls.map((call) => funcs.indexOf(funcOf(call)))),
    funcs,
    seq: narrow(calls.map(({ seq }) => seq ?? -1)),
    peer: narrow(calls.map(({ peer = -1 }) => peer)),
    ordinal: narrow(calls.map((call) => ordinalOf(call, calls))),
    ordinalAbsolute: narrow(calls.map(() => 1)),
    count: narrow(calls.map(({ count = 1024 }) => count)),
    datatype: narrow(calls.map(() => 0)),
    datatypes: ['ncclFloat32'],
    plan: narrow(calls.map(() => 0)),
    plans: ['RING/SIMPLE'],
    root: narrow(calls.map(({ root = -1 }) => root)),
    arrival: narrow(calls.map(({ at }) => s(at))),
    channels: narrow(calls.map(() => 2)),
    enqueued: narrow(calls.map(({ at }) => s(at))),
  };
}

function member(rank: MadeUpRank, file: number, comms: Comms): ClusterMember {
  return {
    communicators: commsOf(file, comms),
    works: tableOf(rank, comms),
    ends: endTable(rank.calls.map(endOf)),
    time: (at) => at as TraceNs,
    gpuTime: () => null,
    calledWithoutWork: () => false,
    gpuError: () => ({ late: 0, early: 0 }),
  };
}

function endOf({ end, noEnd, finalized, onlySent }: MadeUpCall): MadeUpEnd {
  const open = finalized === undefined ? 'open' : 'aborted';
  const lastOp = end === null || noEnd ? NaN : s(end);
  return {
    outcome: noEnd ? 'no-children' : end === null ? open : 'complete',
    ...{ lastOp, lastRecv: onlySent ? NaN : lastOp },
    finalized: finalized === undefined ? undefined : s(finalized),
  };
}

function witness(rank: MadeUpRank, file: number, comms: Comms, end: number, setUp?: number): RankWitness {
  const { calls, alive = end, closed, knownFrom = 0, knownUntil = closed ? Infinity : alive } = rank;
  const works = calls.filter((call) => call.end === null && !call.noEnd);
  const lastMove = new Map<number, TraceNs>();
  for (const call of calls) {
    const before = lastMove.get(numberOf(comms, call)) ?? 0;
    lastMove.set(numberOf(comms, call), Math.max(before, s(call.end ?? call.at)) as TraceNs);
  }
  const table = tableOf(rank, comms);
  const finalized = calls.find((call) => call.finalized !== undefined)?.finalized;
  const transfers = calls.filter(({ seq, end: ended }) => seq === null && ended !== null);
  return {
    architecture: rank.on ?? null,
    ncclVersion: rank.nccl ?? null,
    node: { id: String(file), name: String(file), machine: String(file) },
    communicators: new Map(
      commsOf(file, comms).map((comm) => [
        comm.number,
        {
          ...comm,
          abi: rank.abi ?? 6,
          init: setUp === undefined ? null : s(setUp),
          finalized: finalized === undefined ? null : s(finalized),
        },
      ]),
    ),
    life: {
      isClosed: closed ?? false,
      isAlive: rank.isAlive ?? false,
      isLate: rank.isLate ?? false,
      isNoEarlierCopy: rank.isNoEarlierCopy ?? false,
      hasHeartbeats: true,
      isGone: rank.isGone ?? false,
      isStopped: rank.isStopped ?? false,
      lastSign: s(alive),
      heartbeats: [],
    },
    reach: { knownFrom: s(knownFrom), knownUntil: s(knownUntil), isPartial: knownFrom > 0 },
    lacks: {
      isDamaged: rank.damaged ?? false,
      lostEntries: 0,
      unknownComms: calls.filter((call) => numberOf(comms, call) < 0).length,
      sampleEvery: rank.sampleEvery === undefined ? 1 : rank.sampleEvery,
      isMuted: rank.isMuted ?? false,
      notRecorded: rank.notRecorded ?? [],
    },
    pending: {
      works: works.map((call) => ({ ...witnessedWork(call, comms), ordinal: ordinalOf(call, calls) })),
      inside: (rank.inside ?? []).map((call) => ({
        comm: 0,
        func: call.func ?? 'AllReduce',
        isTransfer: call.func === 'Send' || call.func === 'Recv',
        count: 1024,
        datatype: 'ncclFloat32',
        root: null,
        at: s(call.at),
        record: '0:7',
      })),
      endsNotKnown: calls.filter(({ noEnd }) => noEnd).length,
      endsToSelf: 0,
      lastWithoutEnd: [...new Set(calls.map((call) => numberOf(comms, call)))].filter(
        (number) => calls.findLast((call) => numberOf(comms, call) === number)?.noEnd,
      ),
    },
    pace: {
      lastMove,
      longestTransfer:
        transfers.length === 0 ? null : Math.max(...transfers.map(({ at, end: ended }) => s(ended! - at))),
      lastEvent: lastEventOf(rank),
      hasCallsNow: rank.hasNoCallsNow === undefined,
      longestQuiet: s(rank.longestQuiet ?? 0),
      isPaceWhole: rank.watched === undefined,
      watched: s(rank.watched ?? 0),
    },
    calls: rankCalls(
      { works: table, workEnds: endTable(calls.map(endOf)), communicators: commsOf(file, comms) },
      (at) => at as TraceNs,
    ),
    hostCalls: rank.asked === undefined ? new Map() : new Map([[0, hostCalls(rank.asked)]]),
    worksSeen: calls.length,
  };
}

function lastEventOf({ calls, asked = [] }: MadeUpRank): TraceNs | null {
  const times = [...calls.map(({ at, end }) => end ?? at), ...asked.map(({ at }) => at)];
  return times.length === 0 ? null : s(Math.max(...times));
}

const collectiveOf = (asked: MadeUpAsked): CallNumber | null =>
  asked.told === undefined ? null : { func: asked.func ?? 'AllReduce', seq: asked.told, ordinal: 0 };

function hostCalls(asked: readonly MadeUpAsked[]): HostCalls {
  const told = asked.map(({ func = 'AllReduce', count = 1024, root = null }) =>
    JSON.stringify({ func, count, datatype: 'ncclFloat32', root }),
  );
  const shapes = [...new Set(told)];
  return {
    shapes: shapes.map((shape) => JSON.parse(shape) as HostCalls['shapes'][number]),
    shape: Uint32Array.from(told, (shape) => shapes.indexOf(shape)),
    begins: Uint8Array.from(asked, ({ sameGroup }) => Number(!sameGroup)),
    isLastOpen: asked.at(-1)?.isOpen ?? false,
    isWhole: asked[0]?.isLater === undefined,
    until: Infinity as TraceNs,
    reported: (most) => asked.slice(-most).map(collectiveOf),
    at: (call) => s(asked[call]!.at),
    record: (call) => `0:${call}`,
  };
}

/** Of a send or receive: among those with its peer. */
const ordinalOf = (call: MadeUpCall, calls: readonly MadeUpCall[]): number =>
  call.seq === null
    ? calls
        .filter((one) => one.seq === null && one.func === call.func && one.peer === call.peer)
        .indexOf(call)
    : 0;

function witnessedWork(call: MadeUpCall, comms: Comms): PendingWork {
  const { seq, peer = null, at, group = null, ops = [], blocks = null, lostSince = 0 } = call;
  const comm = numberOf(comms, call);
  return {
    comm,
    func: funcOf(call),
    seq,
    peer,
    ordinal: 0,
    plan: 'RING/SIMPLE',
    start: s(at),
    group,
    record: '0:7',
    ops,
    blocks,
    unhanded: call.unhanded ?? null,
    hasMoved: ops.some(
      ({ isSend, done, wait }) => done > 0 || (isSend && wait !== null && wait.name !== Wait.Gpu),
    ),
    lostSince,
  };
}

/** A receive from `peer` that waits in its first step: a ring of one channel. */
export function waitingFor(peer: number, more: Partial<PendingOp> = {}): PendingOp {
  const wait = { step: 0, name: Wait.Recv, since: s(10) };
  return { channel: 0, peer, isSend: false, nSteps: 12, done: 0, wait, executor: null, ...more };
}

/** A collective that lasts from `at` on for 10 ms, as on the other ranks. */
export const done = (seq: number, at: number, more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  seq,
  at,
  end: at + 0.01,
  ...more,
});

export const open = (seq: number, at: number, more: Partial<MadeUpCall> = {}): MadeUpCall => ({
  seq,
  at,
  end: null,
  ...more,
});
