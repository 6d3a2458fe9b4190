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
  isAlive: boolean;
  waiting: Set<Op>;
}

export class SilentOps {
  private readonly connections = new Map<string, Connection>();
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
    const connection = this.connections.get(connectionKey(op));
    if (!connection) return;
    if (op.isUntold) this.correct(op);
    connection.isAlive = true;
    connection.waiting.clear();
  }

  /** The connections on which nothing ever showed a sign of life. Before this, no work's counts are final. */
  finish(): Set<string> {
    const silent = new Set<string>();
    for (const [key, connection] of this.connections) {
      if (connection.isAlive) continue;
      this.settle(connection);
      silent.add(key);
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
    const key = connectionKey(op);
    let connection = this.connections.get(key);
    if (!connection) {
      connection = { isAlive: false, waiting: new Set() };
      this.connections.set(key, connection);
    }
    return connection;
  }
}

/** NCCL says isSend 1 of its network transport alone, which tells of all its ends. */
export function mayBeSilent(op: Op): boolean {
  return !op.isSend && !op.lost && !op.foreign;
}

/** Sends are none of these connections. */
export function connectionKey(op: { comm: Communicator | null; channel: number; peer: number }): string {
  return `${op.comm?.number ?? 'none'} ${op.channel} ${op.peer}`;
}
