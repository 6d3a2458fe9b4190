/**
 * Operations whose end NCCL never reports. Its CollNet transport, and SHM or P2P that copy by memcpy, start a ProxyOp (with isSend 0 in
 * both directions) and report neither state nor stop. Such an operation looks like a receive that hangs before its first progress call. The
 * connection decides. If *no* operation of the connection ever moved, its operations are endless. Otherwise they are queued. Collectives
 * and sends/receives between two ranks use separate connections (NCCL's connIndex 0 and 1), so a receive can move beside an endless
 * CollNet.
 */

import type { Op, Work } from './types.js';

/** More operations than this are no queue: NCCL queues only a few. This bounds the memory of a long run. */
export const DEEPEST_QUEUE = 1024;

/** The user of the connection. If an operation's work is not known, it may be either. */
const KINDS = ['Coll', 'P2p', 'unknown'] as const;
type Kind = (typeof KINDS)[number];

interface Connection {
  /** The connection's `connectionKey`. */
  readonly key: string;
  readonly kind: Kind;
  isAlive: boolean;
  waiting: Set<Op>;
  /** Operations of the other direction if the connection is endless, else repeats. */
  otherDirection: number;
}

export interface Endless {
  /** Connections on which nothing ever moved. */
  readonly connections: Set<string>;
  /** Number of their operations that were mistaken for repeats. */
  readonly otherDirection: number;
}

export class EndlessOps {
  /** By communicator and channel in one number, then by peer and kind in another. It is looked up for every receive. */
  private readonly byPeer = new Map<number, Map<number, Connection>>();
  count = 0;

  /** `works`: is called for each work whose number of children has changed. */
  constructor(private readonly works: { changed(work: Work): void }) {}

  started(op: Op): void {
    if (!mayBeEndless(op)) return;
    const connection = this.connectionOf(op);
    if (connection.isAlive) return;
    connection.waiting.add(op);
    if (op.mayBeOtherDirection) connection.otherDirection++;
    if (connection.waiting.size > DEEPEST_QUEUE) this.settle(connection);
  }

  alive(op: Op): void {
    if (!mayBeEndless(op)) return;
    const peers = this.byPeer.get(channelKey(op));
    if (!peers) return;
    if (op.isEndless) this.correct(op);
    const own = kindOf(op);
    if (own !== 'unknown') comesAlive(peers.get(peerKey(op.peer, own)));
    // The work is not known, so any connection to this peer may be the one that moved.
    else for (const kind of KINDS) comesAlive(peers.get(peerKey(op.peer, kind)));
  }

  /** A work's counts are final only after this call. */
  finish(): Endless {
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
      op.isEndless = true;
      this.count++;
      if (!op.work || op.parent !== 'known') continue;
      op.work.children--;
      op.work.openChildren--;
      op.work.endlessOps++;
      this.works.changed(op.work);
    }
    waiting.clear();
  }

  private correct(op: Op): void {
    op.isEndless = false;
    this.count--;
    if (!op.work || op.parent !== 'known') return;
    op.work.children++;
    op.work.openChildren++;
    op.work.endlessOps--;
    this.works.changed(op.work);
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

/** Checked first: clearing a set makes a new one, even if the set is empty. */
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

/** NCCL says isSend 1 only for its network transport, which reports all its ends. */
export function mayBeEndless(op: Op): boolean {
  return !op.isSend && !op.lost && !op.foreign;
}

/** A channel number is one byte. */
const channelKey = ({ comm, channel }: Op): number => (comm?.number ?? -1) * 256 + channel;

/** Sends are never on these connections. */
export function connectionKey(op: Pick<Op, 'comm' | 'channel' | 'peer' | 'of'>): string {
  return `${op.comm?.number ?? 'none'} ${op.channel} ${op.peer} ${kindOf(op)}`;
}
