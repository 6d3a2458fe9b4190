/** Finds the connection of an operation, once per operation. Facts that its operations share are computed once. */

import { lowHalf } from '../bits';
import { Op } from '../event';
import { CommGroups } from './comm_groups';
import { Connection, Direction } from './connection';
import { sharesClock } from './host';
import { transfersOf } from './identity';
import { Sink } from './sink';

/** Arrows begin in a send's peer wait (state 20). All ranks of a communicator run the same NCCL, so older versions have no arrows. */
const FIRST_WITH_PEER_WAIT: i32 = 4;

export class Connections {
  /** By group, channel, direction and peer. */
  private readonly places: Map<u64, Connection> = new Map<u64, Connection>();

  constructor(
    private readonly sink: Sink,
    private readonly groups: CommGroups,
  ) {}

  of(op: Op, isEndless: bool): Connection {
    const group = this.groups.groupOf(op);
    const direction: Direction = op.isLost
      ? Direction.Lost
      : isEndless
        ? Direction.Endless
        : op.isSend
          ? Direction.Send
          : Direction.Receive;
    const key =
      ((<u64>group.number) << 43) |
      (lowHalf(op.peer) << 11) |
      ((<u64>((op.channel + 1) & 0x1ff)) << 2) |
      (direction as u64);
    if (this.places.has(key)) return this.places.get(key);
    const transfers = arrowsOf(op);
    const made = new Connection(this.sink, group, op.comm.number, op.channel, op.peer, direction, transfers);
    this.places.set(key, made);
    return made;
  }
}

function arrowsOf(op: Op): u64 {
  const transfers = transfersOf(op);
  if (transfers == 0 || op.comm.abi < FIRST_WITH_PEER_WAIT) return 0;
  return sharesClock(op.comm.number, op.peer, op.isForeign) ? transfers : 0;
}
