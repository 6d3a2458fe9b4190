/**
 * Operations whose end NCCL never tells. Its CollNet transport, and SHM or P2P that copy by memcpy, start a ProxyOp (with
 * isSend 0 in both directions) and send neither state nor stop. Such an operation looks like a receive that hangs before
 * its first progress call; what tells them apart is its connection: one on which *no* operation ever showed a sign of
 * life is of the silent sort, on any other the silent ones are waiting their turn. Collectives and sends/receives between the
 * same two ranks go over connections of their own (NCCL's connIndex 0 and 1): beside a silent CollNet a receive is alive.
 */

import type { Op } from './types.js';

/** Waiting this many deep nothing is waiting any more: NCCL queues a few. Bounds memory, however long the run. */
export const DEEPEST_QUEUE = 1024;

/** Whose connection it is; of an operation whose work is not known it may be either. */
const KINDS = ['Coll', 'P2p', 'unknown'] as const;
type Kind = (typeof KINDS)[number];

interface Connection {
  /** As `connectionKey`. */
  readonly key: string;
  readonly kind: Kind;
  isAlive: boolean;
  waiting: Set<Op>;
  /** Operations that are the other direction's if the connection is silent, and begun again if not. */
  otherDirection: number;
}

export interface Silent {
  /** On these nothing ever showed a sign of life. */
  readonly connections: Set<string>;
  /** Of their operations so many were taken for others that began again. */
  readonly otherDirection: number;
}

export class SilentOps {
  /** By communicator and channel in one number, then by peer and kind in another: looked up for every receive. */
  private readonly byPeer = new Map<number, Map<number, Connection>>();
  count = 0;

  started(op: Op): void {
    if (!mayBeSilent(op)) return;
    const connection = this.connectionOf(op);
    if (connection.isAlive) return;
    connection.waiting.add(op);
    if (op.mayBeOtherDirection) connection.otherDirection++;
    if (connection.waiting.size > DEEPEST_QUEUE) this.settle(connection);
  }

  alive(op: Op): void {
    if (!mayBeSilent(op)) return;
    const peers = this.byPeer.get(channelKey(op));
    if (!peers) return;
    if (op.isUntold) this.correct(op);
    const own = kindOf(op);
    if (own !== 'unknown') comesAlive(peers.get(peerKey(op.peer, own)));
    // Of unknown work: the life of any connection there.
    else for (const kind of KINDS) comesAlive(peers.get(peerKey(op.peer, kind)));
  }

  /** Before this, no work's counts are final. */
  finish(): Silent {
    const connections = new Set<string>();
    let otherDirection = 0;
    for (const peers of this.byPeer.values()) {
      for (const [key, connection] of peers) {
        if (connection.isAlive || (connection.kind === 'unknown' && isAnyAlive(peers, key))) continue;
        this.settle(connection);
        connections.add(connection.key);
        otherDirection += connection.otherDirection;
      }
    }
    return { connections, otherDirection };
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
    const kind = kindOf(op);
    let connection = peers.get(peerKey(op.peer, kind));
    if (!connection) {
      connection = { key: connectionKey(op), kind, isAlive: false, waiting: new Set(), otherDirection: 0 };
      peers.set(peerKey(op.peer, kind), connection);
    }
    return connection;
  }
}

/** Clearing a set makes a new one, even of an empty one. */
function comesAlive(connection: Connection | undefined): void {
  if (!connection || connection.isAlive) return;
  connection.isAlive = true;
  connection.waiting.clear();
}

const peerKey = (peer: number, kind: Kind): number => peer * KINDS.length + KINDS.indexOf(kind);
const kindOf = ({ of }: Pick<Op, 'of'>): Kind => of?.kind ?? 'unknown';

/** `key`: of the connection of unknown kind. */
function isAnyAlive(peers: ReadonlyMap<number, Connection>, key: number): boolean {
  const peer = Math.floor(key / KINDS.length);
  return KINDS.some((kind) => peers.get(peerKey(peer, kind))?.isAlive === true);
}

/** NCCL says isSend 1 of its network transport alone, which tells of all its ends. */
export function mayBeSilent(op: Op): boolean {
  return !op.isSend && !op.lost && !op.foreign;
}

/** Channels are told in one byte. */
const channelKey = ({ comm, channel }: Op): number => (comm?.number ?? -1) * 256 + channel;

/** Sends are none of these connections. */
export function connectionKey(op: Pick<Op, 'comm' | 'channel' | 'peer' | 'of'>): string {
  return `${op.comm?.number ?? 'none'} ${op.channel} ${op.peer} ${kindOf(op)}`;
}
