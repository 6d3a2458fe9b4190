/**
 * Connections: per channel, direction and peer the lanes of its operations, and below them the step slots. A connection is looked up once
 * per operation. Facts that its operations share are computed once.
 */

import type { Hash64 } from '../../base/hash.js';
import { LaneNumbers } from '../../base/lane_numbers.js';
import type { TraceNs } from '../../base/time.js';
import type { Op } from '../../model/types.js';
import { NCCL_STEPS } from '../../model/step_table.js';
import { COMM_ORDER, type CommGroups } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { transfersOf } from '../../model/identity.js';
import { Lanes, laneName } from './lanes.js';
import { peerName, rankName, titleOf, type RankNames } from './rank_names.js';
import type { TrackRef } from './sink.js';

/** A step slot. */
export interface Slot {
  readonly slots: Slots;
  readonly number: number;
  readonly track: TrackRef;
  isBusy: boolean;
  /** Begin of the newest phase, or of the step; when the step ended. */
  phaseAt: TraceNs;
  /** The newest phase is a peer wait. It is drawn when it is over. */
  inPeerWait: boolean;
}

export class Connections {
  /** By group, channel and direction in one number, then by peer. */
  private readonly byPeer = new Map<number, Map<number, Connection>>();

  constructor(
    private readonly context: TrackContext,
    private readonly groups: CommGroups,
  ) {}

  of(op: Op): Connection {
    const group = this.groups.groupOf(op);
    const isEndless = this.context.neverEnds(op);
    const direction = op.lost ? 3 : isEndless ? 2 : Number(op.isSend);
    const key = (group * CHANNELS + op.channel + 1) * 4 + direction;
    let peers = this.byPeer.get(key);
    if (!peers) this.byPeer.set(key, (peers = new Map<number, Connection>()));
    let connection = peers.get(op.peer);
    if (!connection) {
      connection = new Connection(this.context, group, op, isEndless);
      peers.set(op.peer, connection);
    }
    return connection;
  }
}

/** A channel number is one byte; -1 for a lost operation. */
const CHANNELS = 257;

/** The order of tracks is an int32. It has room for all channels, and for this many peers and lanes. */
const PEERS = 1 << 16;
const LANES = 60;

/** Arrows begin in a send's peer wait (state 20). All ranks of a communicator run the same NCCL, so older versions have no arrows. */
const FIRST_WITH_PEER_WAIT = 4;

function arrowsOf({ sharesClock }: TrackContext, op: Op): Hash64 | null {
  const transfers = transfersOf(op);
  if (transfers === null || op.comm === null || op.comm.abi < FIRST_WITH_PEER_WAIT) return null;
  return sharesClock(op.comm.commId, op.peer, op.foreign !== null) ? transfers : null;
}

export class Connection {
  readonly lanes: Lanes<TrackRef>;
  /** The part of its transfers' ids that both ends share. null: the other end is not known, or gets no arrow. */
  readonly transfers: Hash64 | null;
  /**
   * Sets of step slots. An operation has a set from its first sign of life on. NCCL works on the operations of a connection one after the
   * other, while many may be queued.
   */
  readonly slotSets = new LaneNumbers();
  private readonly slots: Slots[] = [];

  constructor(
    private readonly context: TrackContext,
    group: TrackRef,
    op: Op,
    readonly isEndless: boolean,
  ) {
    this.transfers = arrowsOf(context, op);
    const direction = op.isSend ? 0 : 1;
    const order =
      (((op.channel + 1) * 2 + direction) * PEERS + Math.min(Math.max(op.peer + 1, 0), PEERS - 1)) * LANES;
    this.lanes = new Lanes((lane) =>
      context.sink.describe({
        kind: 'slices',
        detail: 'op',
        name: laneName(connectionName(op, isEndless, context.names), lane),
        parent: group,
        rank: COMM_ORDER.connections + order + Math.min(lane, LANES - 1),
        description: op.lost ? STAND_IN_DESCRIPTION : CONNECTION_DESCRIPTION,
      }),
    );
  }

  /** Of that set: below the lane with the same number. */
  slotsOf(set: number): Slots {
    return this.slots[set] ?? this.newSlots(set);
  }

  private newSlots(lane: number): Slots {
    const slots = new Slots(this.context, () => this.lanes.track(lane));
    this.slots[lane] = slots;
    return slots;
  }
}

/** A set of slot tracks: NCCL's eight, and more if steps never ended. */
export class Slots {
  private readonly slots: (Slot | undefined)[] = [];
  /** A file may leave any number of steps in flight. */
  private readonly extras = new LaneNumbers();

  constructor(
    private readonly context: TrackContext,
    private readonly parent: () => TrackRef,
  ) {}

  acquire(step: number, at: TraceNs): Slot {
    const own = step & (NCCL_STEPS - 1);
    let slot = (this.slots[own] ??= this.describe(own));
    if (slot.isBusy || slot.phaseAt > at) {
      const extra = NCCL_STEPS + this.extras.acquire(at);
      slot = this.slots[extra] ??= this.describe(extra);
    }
    slot.isBusy = true;
    slot.phaseAt = at;
    return slot;
  }

  /** Its step is over, at its `phaseAt`. */
  release(slot: Slot): void {
    slot.isBusy = false;
    if (slot.number >= NCCL_STEPS) this.extras.release(slot.number - NCCL_STEPS, slot.phaseAt);
  }

  private describe(number: number): Slot {
    const { sink } = this.context;
    const track = sink.describe({
      kind: 'slices',
      detail: 'step',
      name: number < NCCL_STEPS ? `step slot ${number}` : `step slot, extra ${number - NCCL_STEPS + 1}`,
      parent: this.parent(),
      rank: number,
      description: SLOT_DESCRIPTION,
    });
    return { slots: this, number, track, isBusy: false, phaseAt: 0 as TraceNs, inPeerWait: false };
  }
}

/** If another process executes its sends (PXN), they have the originator's name. */
function connectionName(op: Op, isEndless: boolean, names: RankNames): string {
  const owner = rankName(names, op.comm);
  if (op.lost) return titleOf(owner, 'operations that began before the window');
  const peer = peerName(names, op.comm, op.peer);
  return isEndless
    ? titleOf(owner, `${channelTitle(op.channel)} with ${peer}`)
    : connectionTitle(owner, op.channel, op.isSend, peer);
}

/** "rank 6 · ch01 recv from 7"; `owner`, `peer`: from `rankName` and `peerName`. `open` also recognises a connection by it. */
export const connectionTitle = (owner: string, channel: number, isSend: boolean, peer: string): string =>
  titleOf(owner, `${channelTitle(channel)} ${isSend ? 'send to' : 'recv from'} ${peer}`);

const channelTitle = (channel: number): string => `ch${String(channel).padStart(2, '0')}`;

const CONNECTION_DESCRIPTION =
  'Proxy operations of one channel, direction and peer (rank of the job), from the moment the operation was ' +
  'appended to the proxy thread. The network transfers lie in the step slots below.';

const STAND_IN_DESCRIPTION =
  'Proxy operations whose start record was overwritten, of any channel and peer of this communicator. Only ' +
  'their network transfers are left, in the step slots below. Each operation lasts from its first transfer ' +
  'to its stop, or to its last transfer if the stop was overwritten, too.';

const SLOT_DESCRIPTION =
  'Network transfers (ProxySteps) of this slot. Send: GPU wait (the kernel fills the buffer), peer wait (the receiver has ' +
  'no room), send wait (on the wire). Receive: recv wait, flush wait, GPU wait (the kernel consumes).';
