/**
 * Operations whose end NCCL never tells. Its CollNet transport, and SHM or P2P that copy by memcpy, start a ProxyOp (with
 * isSend 0 in both directions) and send neither state nor stop. Such an operation looks like a receive that hangs before
 * its first progress call; what tells them apart is its connection: one on which *no* operation ever showed a sign of
 * life is of the silent sort, on any other the silent ones are waiting their turn.
 */

import type { Communicator } from '../reader/types.js';
import type { Op } from './types.js';

/** Waiting this many deep nothing is waiting any more: NCCL queues a few. Bounds memory, however long the run. */
const DEEPEST_QUEUE = 1024;

interface Connection {
  /** As `connectionKey`. */
  readonly key: string;
  isAlive: boolean;
  waiting: Set<Op>;
}

export class SilentOps {
  /** By communicator and channel in one number, then by peer: looked up for every receive. */
  private readonly byPeer = new Map<number, Map<number, Connection>>();
  count = 0;

  started(op: Op): void {
    if (!mayBeSilent(op)) return;
    const connection = this.connectionOf(op);
    if (connection.isAlive) return;
    connection.waiting.add(op);
    if (connection.waiting.size > DEEPEST_QUEUE) this.settle(connection);
  }

  alive(op: Op): void {
    if (!mayBeSilent(op)) return;
    const connection = this.byPeer.get(channelKey(op))?.get(op.peer);
    if (!connection) return;
    if (op.isUntold) this.correct(op);
    connection.isAlive = true;
    connection.waiting.clear();
  }

  /** The connections on which nothing ever showed a sign of life. Before this, no work's counts are final. */
  finish(): Set<string> {
    const silent = new Set<string>();
    for (const peers of this.byPeer.values()) {
      for (const connection of peers.values()) {
        if (connection.isAlive) continue;
        this.settle(connection);
        silent.add(connection.key);
      }
    }
    return silent;
  }

  private settle({ waiting }: Connection): void {
    for (const op of waiting) {
      op.isUntold = true;
      this.count++;
      if (!op.work || op.parent !== 'known') continue;
      op.work.children--;
      op.work.openChildren--;
      op.work.untold++;
    }
    waiting.clear();
  }

  private correct(op: Op): void {
    op.isUntold = false;
    this.count--;
    if (!op.work || op.parent !== 'known') return;
    op.work.children++;
    op.work.openChildren++;
    op.work.untold--;
  }

  private connectionOf(op: Op): Connection {
    const channel = channelKey(op);
    let peers = this.byPeer.get(channel);
    if (!peers) this.byPeer.set(channel, (peers = new Map<number, Connection>()));
    let connection = peers.get(op.peer);
    if (!connection) {
      connection = { key: connectionKey(op), isAlive: false, waiting: new Set() };
      peers.set(op.peer, connection);
    }
    return connection;
  }
}

/** NCCL says isSend 1 of its network transport alone, which tells of all its ends. */
export function mayBeSilent(op: Op): boolean {
  return !op.isSend && !op.lost && !op.foreign;
}

/** Channels are told in one byte. */
const channelKey = ({ comm, channel }: Op): number => (comm?.number ?? -1) * 256 + channel;

/** Sends are none of these connections. */
export function connectionKey(op: { comm: Communicator | null; channel: number; peer: number }): string {
  return `${op.comm?.number ?? 'none'} ${op.channel} ${op.peer}`;
}
