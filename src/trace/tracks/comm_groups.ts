/**
 * One group of tracks per communicator, in the order of first use: collective lanes, point-to-point lanes, kernel channels, then
 * connections by channel, direction and peer.
 */

import { ticks } from '../../base/time.js';
import { hex64 } from '../../base/hex.js';
import type { Communicator } from '../../model/recording.js';
import type { Op } from '../../model/types.js';
import type { TrackContext } from './context.js';
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

export class CommGroups {
  private readonly groups = new Map<Communicator | null, TrackRef>();
  private readonly foreign = new Map<bigint, TrackRef>();

  constructor(private readonly sink: TrackSink) {}

  group(comm: Communicator | null): TrackRef {
    let group = this.groups.get(comm);
    if (group === undefined) {
      group = this.sink.describe({
        kind: 'group',
        name: comm === null ? 'unknown communicator' : commTitle(comm),
        rank: comm === null ? RANK_ORDER.unknownComm : RANK_ORDER.comms + comm.number,
        description: comm === null ? UNKNOWN : description(comm),
      });
      this.groups.set(comm, group);
    }
    return group;
  }

  /** An operation's communicator, or the group of those executed for another process. */
  groupOf({ foreign, originator, comm }: Op): TrackRef {
    if (!foreign) return this.group(comm);
    let group = this.foreign.get(foreign.context);
    if (group === undefined) {
      group = this.sink.describe({
        kind: 'group',
        name: originator
          ? pxnTitle(originator.process, originator.comm)
          : `PXN for pid ${foreign.pid}, whose file is not here (context ${hex64(foreign.context)})`,
        rank: RANK_ORDER.pxn + this.foreign.size,
        description: PXN,
      });
      this.foreign.set(foreign.context, group);
    }
    return group;
  }
}

/** When each communicator of the process began and ended, also if it had no other event. */
export function drawCommunicators({ sink, file, time }: TrackContext, groups: CommGroups): void {
  for (const comm of file.communicators.values()) {
    const track = sink.describe({
      kind: 'slices',
      name: 'communicator',
      parent: groups.group(comm),
      rank: COMM_ORDER.life,
      description: 'When NCCL reported the beginning and the end of this communicator.',
    });
    const args: Args = [
      ['rank', comm.rank],
      ['nRanks', comm.nRanks],
      ['nNodes', comm.nNodes],
      ['interface', `v${comm.abi}`],
    ];
    // No event is older than the start of the file.
    const initTick = ticks(Math.max(0, comm.initTick));
    sink.instant(track, time(initTick), 'init', { args });
    if (comm.finalizeTick === null) continue;
    sink.instant(track, time(ticks(Math.max(initTick, comm.finalizeTick))), 'finalize');
  }
}

/** `process`: a process's title, "rank 0003". */
export const pxnTitle = (process: string, comm: NamedComm): string =>
  `PXN for ${process}: ${commTitle(comm)}`;

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

const PXN =
  "Sends that this process executes for another one of its host (PXN). Channels and peers are those of that process's " +
  'communicator. Its collective there has the same correlation id.';

const UNKNOWN = 'Events whose context is not a communicator of this process, or whose entry was lost.';

function description(comm: Communicator): string {
  return (
    `Communicator ${comm.name || 'without a name'}, commId ${hex64(comm.commId)}, rank ${comm.rank} of ` +
    `${comm.nRanks} on ${comm.nNodes} nodes; NCCL spoke profiler ABI v${comm.abi}.`
  );
}
