/**
 * Names and descriptions of the tracks that the kernel draws, by what they show and its numbers (`What` in src/kernel/draw/tracks.ts). The
 * tracks below a communicator: collective lanes, point-to-point lanes, kernel channels, then connections by channel, direction and peer.
 */

import { hex64 } from '../../base/hex.js';
import type { Originator } from '../../model/pxn.js';
import type { PeerTraffic } from '../../model/peer_traffic.js';
import type { Communicator, Lease, Recording } from '../../model/recording.js';
import { COMM_ORDER, commTitle, describeComm, RANK_ORDER } from './comm_groups.js';
import { laneName } from './lanes.js';
import { peerName, rankName, titleOf, type RankNames } from './rank_names.js';
import type { TrackSpec } from './sink.js';

/** What the names need. */
export interface Named {
  readonly file: Recording;
  readonly names: RankNames;
  /** By number: the file's, and those for which it executes sends. null: not known. */
  readonly commOf: (number: number) => Communicator | null;
  readonly originator: (context: bigint) => Originator | null;
  readonly busiestPeers: readonly PeerTraffic[];
  /** ns: width of the rates' bins. */
  readonly binNs: number;
}

/** Without parent and detail, which the kernel knows. */
type Spec = TrackSpec;
type Numbers = readonly [number, number, number, number];

export const specOf = (named: Named, what: number, numbers: Numbers): Spec => SPECS[what]!(named, ...numbers);

type MakeSpec = (named: Named, a: number, b: number, c: number, d: number) => Spec;

/** By `What`. */
const SPECS: readonly MakeSpec[] = [
  () => {
    throw new Error('a track of the host');
  },
  commGroup,
  foreignGroup,
  works,
  connection,
  slot,
  blocks,
  hostThreads,
  calls,
  proxyThread,
  (named, place) => bytes(named, place, false),
  (named, place) => bytes(named, place, true),
  ({ names }) => counter(titleOf(names.own, 'operations in flight'), RANK_ORDER.works, WORKS_IN_FLIGHT),
  ({ names }) =>
    counter(titleOf(names.own, 'proxy operations in flight'), RANK_ORDER.proxyOps, OPS_IN_FLIGHT),
  () => ({ kind: 'slices', name: 'records that fit nothing', rank: 100, description: ODD_RECORDS }),
];

function commGroup({ commOf }: Named, number: number): Spec {
  const comm = commOf(number);
  return {
    kind: 'group',
    name: comm === null ? 'unknown communicator' : commTitle(comm),
    rank: comm === null ? RANK_ORDER.unknownComm : RANK_ORDER.comms + comm.number,
    description: comm === null ? UNKNOWN : describeComm(comm),
  };
}

function foreignGroup({ originator }: Named, place: number, pid: number, high: number, low: number): Spec {
  const context = (BigInt(high) << 32n) | BigInt(low);
  const origin = originator(context);
  return {
    kind: 'group',
    name: origin
      ? pxnTitle(origin.process, origin.comm)
      : `PXN for pid ${pid}, whose file is not here (context ${hex64(context)})`,
    rank: RANK_ORDER.pxn + place,
    description: PXN,
  };
}

/** `process`: a process's title, "rank 0003". */
export const pxnTitle = (process: string, comm: Parameters<typeof commTitle>[0]): string =>
  `PXN for ${process}: ${commTitle(comm)}`;

function works({ names, commOf }: Named, number: number, isColl: number, lane: number): Spec {
  const title = titleOf(rankName(names, commOf(number)), isColl === 1 ? 'collectives' : 'point-to-point');
  return {
    kind: 'slices',
    name: laneName(title, lane),
    rank: (isColl === 1 ? COMM_ORDER.collectives : COMM_ORDER.pointToPoint) + lane,
    description: WORKS,
  };
}

/** The order of tracks is an int32. It has room for all channels, and for this many peers and lanes. */
const PEERS = 1 << 16;
const LANES = 60;
/** `Direction` of src/kernel/draw/connection.ts. */
const [SEND, ENDLESS, LOST] = [1, 2, 3];

function connection(
  { names, commOf }: Named,
  number: number,
  channel: number,
  peer: number,
  own: number,
): Spec {
  const lane = Math.floor(own / 4);
  const direction = own % 4;
  const order =
    (((channel + 1) * 2 + (direction === SEND ? 0 : 1)) * PEERS +
      Math.min(Math.max(peer + 1, 0), PEERS - 1)) *
    LANES;
  return {
    kind: 'slices',
    name: laneName(connectionName(names, commOf(number), channel, peer, direction), lane),
    rank: COMM_ORDER.connections + order + Math.min(lane, LANES - 1),
    description: direction === LOST ? STAND_INS : CONNECTION,
  };
}

/** If another process executes its sends (PXN), they have the originator's name. */
function connectionName(
  names: RankNames,
  comm: Communicator | null,
  channel: number,
  peer: number,
  direction: number,
): string {
  const owner = rankName(names, comm);
  if (direction === LOST) return titleOf(owner, 'operations that began before the window');
  const other = peerName(names, comm, peer);
  return direction === ENDLESS
    ? titleOf(owner, `${channelTitle(channel)} with ${other}`)
    : connectionTitle(owner, channel, direction === SEND, other);
}

/** "rank 6 · ch01 recv from 7"; `owner`, `peer`: from `rankName` and `peerName`. `open` also recognises a connection by it. */
export const connectionTitle = (owner: string, channel: number, isSend: boolean, peer: string): string =>
  titleOf(owner, `${channelTitle(channel)} ${isSend ? 'send to' : 'recv from'} ${peer}`);

const channelTitle = (channel: number): string => `ch${String(channel).padStart(2, '0')}`;

/** NCCL's own number of step slots. */
const NCCL_STEPS = 8;

function slot(_: Named, number: number): Spec {
  return {
    kind: 'slices',
    name: number < NCCL_STEPS ? `step slot ${number}` : `step slot, extra ${number - NCCL_STEPS + 1}`,
    rank: number,
    description: SLOT,
  };
}

function blocks(
  { names, commOf }: Named,
  number: number,
  channel: number,
  isPhase: number,
  lane: number,
): Spec {
  const name = `kernel ${channelTitle(channel)}${isPhase === 1 ? ' phases' : ''}`;
  return {
    kind: 'slices',
    name: laneName(titleOf(rankName(names, commOf(number)), name), lane),
    rank: COMM_ORDER.kernels + (channel * 2 + isPhase) * 16 + Math.min(lane, 15),
    description: isPhase === 1 ? PHASES : BLOCKS,
  };
}

function hostThreads(): Spec {
  return {
    kind: 'group',
    name: 'host threads',
    rank: RANK_ORDER.hostThreads,
    description: 'Calls into NCCL and kernel launches, per thread.',
  };
}

/** By what a thread's tracks show: `Shows` of src/kernel/draw/host_threads.ts. */
const SHOWN = [
  {
    prefix: '',
    description:
      'Calls of this thread into NCCL and its kernel launches, nested as they were made. They show when work ' +
      'was enqueued, not when it was done.',
  },
  {
    prefix: 'net ',
    description:
      'Requests of the network plugin that this thread drives (queue pairs, sockets), as the plugin ' +
      'reported them. If they overlap, there are further lanes (·2, ·3).',
  },
  {
    prefix: 'unknown events of ',
    description:
      'Events of a type that this version of nccl-trace does not know, because NCCL is newer. If they ' +
      'overlap, there are further lanes.',
  },
];
/** In place of a lease: all of a ring, and the one of the first call. */
const ALL_LEASES = -2;

function calls({ file }: Named, ring: number, place: number, leaseNumber: number, own: number): Spec {
  const lane = Math.floor(own / 4);
  const { prefix, description } = SHOWN[own % 4]!;
  const title =
    leaseNumber <= ALL_LEASES
      ? threadsTitle(file, ring, file.leases[ALL_LEASES - 1 - leaseNumber])
      : threadTitle(file, ring, file.leases[leaseNumber]);
  return {
    kind: 'slices',
    name: laneName(prefix + title, lane),
    rank: place * 64 + Math.min(lane, 63),
    description,
  };
}

function threadsTitle({ leases }: Recording, ring: number, first: Lease | undefined): string {
  const count = leases.filter((lease) => lease.ring === ring).length;
  return `${first?.threadName ?? 'threads'}, ${count} threads one after the other`;
}

function threadTitle({ rings }: Recording, ring: number, lease: Lease | undefined): string {
  if (rings.find((one) => one.ring === ring)?.class === 'overflow')
    return 'threads without a ring of their own';
  return lease ? `${lease.threadName} ${lease.tid}` : `thread of ring ${ring}`;
}

function proxyThread({ file }: Named, ring: number): Spec {
  const lease = file.leases.findLast((candidate) => candidate.ring === ring);
  return {
    kind: 'state',
    name: lease ? `proxy thread ${lease.tid}` : `proxy thread of ring ${ring}`,
    rank: RANK_ORDER.proxyThreads + ring,
    description:
      "NCCL's proxy progress thread: Active while it moves data, Idle while it polls without progress. Ends with the file.",
  };
}

/** In place of a peer: all that was sent. */
const SENT = -1;

/** `place`: among the busiest peers, or the total. */
function bytes(named: Named, place: number, isRate: boolean): Spec {
  const { names, busiestPeers, commOf, binNs } = named;
  const peer = busiestPeers[place];
  const isSend = peer?.isSend ?? place === SENT;
  const comm = peer ? commOf(peer.comm) : null;
  const other = peer ? peerName(names, comm, peer.peer) : '';
  const to = peer ? ` ${isSend ? 'to' : 'from'} ${other}` : '';
  const what = `${isSend ? 'sent to' : 'received from'}${peer ? ` rank ${peer.peer} of this communicator over` : ''} the network`;
  const more = peer ? ' Drawn for the peers that this rank exchanged most with.' : '';
  const order = peer ? COMM_ORDER.peers + place * 2 : isSend ? RANK_ORDER.txBytes : RANK_ORDER.rxBytes;
  return {
    kind: 'counter',
    name: titleOf(
      peer ? rankName(names, comm) : names.own,
      `${isSend ? 'tx' : 'rx'} ${isRate ? 'rate' : 'bytes'}${to}`,
    ),
    rank: order + (isRate ? 1 : 0),
    unit: isRate ? 'GB/s' : 'bytes',
    description: isRate
      ? `Mean rate of wire bytes ${what} over bins of ${binNs / 1e6} ms.${more}`
      : `Wire bytes ${what} since the recording's window began.${more}`,
  };
}

const counter = (name: string, rank: number, description: string): Spec => ({
  kind: 'counter',
  name,
  rank,
  unit: 'count',
  description,
});

const UNKNOWN = 'Events whose context is not a communicator of this process, or whose entry was lost.';

const PXN =
  "Sends that this process executes for another one of its host (PXN). Channels and peers are those of that process's " +
  'communicator. Its collective there has the same correlation id.';

const WORKS =
  'From enqueueing on the host to the end of the last proxy operation or kernel channel of this work. A ' +
  'slice stays open if the work had not finished when the recording ended. If slices overlap, there are ' +
  'further lanes (·2, ·3).';

const CONNECTION =
  'Proxy operations of one channel, direction and peer (rank of the job), from the moment the operation was ' +
  'appended to the proxy thread. The network transfers lie in the step slots below.';

const STAND_INS =
  'Proxy operations whose start record was overwritten, of any channel and peer of this communicator. Only ' +
  'their network transfers are left, in the step slots below. Each operation lasts from its first transfer ' +
  'to its stop, or to its last transfer if the stop was overwritten, too.';

const SLOT =
  'Network transfers (ProxySteps) of this slot. Send: GPU wait (the kernel fills the buffer), peer wait (the receiver has ' +
  'no room), send wait (on the wire). Receive: recv wait, flush wait, GPU wait (the kernel consumes).';

const BLOCKS =
  "One thread block of NCCL's kernel, by the GPU's own timer moved to the host's clock. From the block's entry (before it " +
  'waits for its peers) to its end.';

const PHASES =
  "What one thread block of NCCL's kernel was doing (initial sync, compute, final sync), by the GPU's own timer moved to " +
  "the host's clock.";

const WORKS_IN_FLIGHT =
  'Collectives, sends and receives that were enqueued and had not ended. If the counter is above 0 at the ' +
  'right edge, they hung, or the recording ended. If NCCL reports no end, they count until the end of the ' +
  'enqueueing.';

const OPS_IN_FLIGHT =
  'Proxy operations (one per channel, direction and peer of a collective) that were appended to the proxy thread and had ' +
  'not stopped. Sampled, each value exact for its time.';

const ODD_RECORDS =
  'States and stops that came late, again or for no event of this file, and numbers this version does not know. The ' +
  'first 1000; the report counts all.';
