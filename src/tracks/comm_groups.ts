/**
 * One group of tracks per communicator, in the order the process met them: collective lanes, point-to-point lanes,
 * kernel channels, then connections by channel, direction and peer.
 */

import { hex64 } from '../base/hex.js';
import type { Communicator } from '../model/recording.js';
import type { TrackRef, TrackSink } from './sink.js';

/** Positions below the rank. */
export const RANK_ORDER = {
  txBytes: 0,
  txRate: 1,
  rxBytes: 2,
  rxRate: 3,
  comms: 100,
  proxyThreads: 1_000_000,
  hostThreads: 1_100_000,
  recorder: 1_200_000,
} as const;

/** Positions below a communicator. */
export const COMM_ORDER = {
  collectives: 0,
  pointToPoint: 1000,
  kernels: 2000,
  connections: 10_000,
} as const;

export class CommGroups {
  private readonly groups = new Map<Communicator | null, TrackRef>();

  constructor(private readonly sink: TrackSink) {}

  group(comm: Communicator | null): TrackRef {
    let group = this.groups.get(comm);
    if (group === undefined) {
      group = this.sink.describe({
        kind: 'group',
        name: comm === null ? 'unknown communicator' : commTitle(comm),
        rank: RANK_ORDER.comms + (comm?.number ?? 999_000),
        description: comm === null ? UNKNOWN : description(comm),
      });
      this.groups.set(comm, group);
    }
    return group;
  }
}

export function commTitle(comm: Communicator): string {
  const id = hex64(comm.commId);
  return `comm ${comm.name === '' ? id : `${comm.name} ${id}`} (${comm.nRanks > 0 ? `${comm.nRanks} ranks` : 'size not told'})`;
}

const UNKNOWN = 'Events whose context is not a communicator of this process, or whose entry was lost.';

function description(comm: Communicator): string {
  return (
    `Communicator ${comm.name || 'without a name'}, commId ${hex64(comm.commId)}, rank ${comm.rank} of ` +
    `${comm.nRanks} on ${comm.nNodes} nodes; NCCL spoke profiler ABI v${comm.abi}.`
  );
}
