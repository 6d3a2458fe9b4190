/** Communicators: their names, their places among the tracks, and when each began and ended. */

import { hex64 } from '../../base/hex.js';
import { ticks, type Ticks, type TraceNs } from '../../base/time.js';
import type { Communicator, Recording } from '../../model/recording.js';
import type { Args, TrackRef, TrackSink } from './sink.js';

/** Positions below the rank. */
export const RANK_ORDER = {
  txBytes: 0,
  txRate: 1,
  rxBytes: 2,
  rxRate: 3,
  works: 4,
  proxyOps: 5,
  comms: 100,
  pxn: 500_000,
  unknownComm: 990_000,
  proxyThreads: 1_000_000,
  hostThreads: 1_100_000,
  recorder: 1_200_000,
} as const;

/** Positions below a communicator. */
export const COMM_ORDER = {
  life: -1,
  collectives: 0,
  pointToPoint: 1000,
  peers: 1500,
  kernels: 2000,
  connections: 10_000,
} as const;

/** When each communicator of the process began and ended, also if it had no other event. */
export function drawCommunicators(
  sink: TrackSink,
  { communicators }: Pick<Recording, 'communicators'>,
  time: (at: Ticks) => TraceNs,
  groupOf: (comm: Communicator) => TrackRef,
): void {
  for (const comm of communicators.values()) {
    const track = sink.describe({
      kind: 'slices',
      name: 'communicator',
      parent: groupOf(comm),
      rank: COMM_ORDER.life,
      description: 'When NCCL reported the beginning and the end of this communicator.',
    });
    const args: Args = [
      ['rank', comm.rank],
      ['nRanks', comm.nRanks],
      ['nNodes', comm.nNodes],
      ['interface', `v${comm.abi}`],
    ];
    const init = comm.init ?? ticks(0);
    sink.instant(track, time(init), 'init', { args });
    if (comm.finalized === null) continue;
    sink.instant(track, time(ticks(Math.max(init, comm.finalized))), 'finalize');
  }
}

type NamedComm = Pick<Communicator, 'commId' | 'name' | 'nRanks'>;

export function commTitle(comm: NamedComm): string {
  return `comm ${commLabel(comm)} (${commSizeText(comm.nRanks)})`;
}

/** `open` also recognises a communicator's line by this. */
export const commSizeText = (nRanks: number): string => (nRanks > 0 ? `${nRanks} ranks` : 'size not known');

export function commLabel(comm: Pick<NamedComm, 'commId' | 'name'>): string {
  const id = hex64(comm.commId);
  return comm.name === '' ? id : `${comm.name} ${id}`;
}

export function describeComm(comm: Communicator): string {
  return (
    `Communicator ${comm.name || 'without a name'}, commId ${hex64(comm.commId)}, rank ${comm.rank} of ` +
    `${comm.nRanks} on ${comm.nNodes} nodes; NCCL spoke profiler ABI v${comm.abi}.`
  );
}
