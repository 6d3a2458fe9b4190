/**
 * Operations whose end NCCL never reports. Its CollNet transport, and SHM or P2P that copy by memcpy, start a ProxyOp (with isSend 0 in
 * both directions) and report neither state nor stop. Such an operation looks like a receive that hangs before its first progress call. The
 * connection decides. If *no* operation of the connection ever moved, its operations are endless. Otherwise they are queued. Collectives
 * and sends/receives between two ranks use separate connections (NCCL's connIndex 0 and 1), so a receive can move beside an endless
 * CollNet.
 */

import { lowHalf } from './bits';
import { Link, Op } from './event';
import { EndlessConnectionRow, EndlessRow } from './result_rows';

/** More operations than this are no queue: NCCL queues only a few. This bounds the memory of a long run. */
export const DEEPEST_QUEUE: i32 = 1024;

/** The user of a connection. If an operation's work is not known, it may be either. */
export const enum User {
  Coll,
  P2p,
  Unknown,
}
const USERS: i32 = 3;

/** A connection of receives. */
export class Connection extends EndlessConnectionRow {
  isAlive: bool = false;
  /** Its operations while nothing has moved there. */
  readonly waiting: Set<Op> = new Set<Op>();
  /** Operations of the other direction if the connection is endless, else repeats. */
  otherDirection: f64 = 0;

  constructor(comm: i32, channel: i32, peer: i32, user: User) {
    super();
    this.comm = comm;
    this.channel = channel;
    this.peer = peer;
    this.user = user;
  }
}

export class EndlessOps extends EndlessRow {
  /** Connections on which nothing ever moved. Known after `finish`. */
  readonly connections: Connection[] = [];
  private readonly all: Connection[] = [];
  /** By channel, peer and user, then by communicator. They are looked up for every receive. */
  private readonly places: Map<u64, Connection> = new Map<u64, Connection>();

  started(op: Op): void {
    if (!mayBeEndless(op)) return;
    const connection = this.connectionOf(op);
    if (connection.isAlive) return;
    connection.waiting.add(op);
    if (op.mayBeOtherDirection) connection.otherDirection += 1;
    if (connection.waiting.size > DEEPEST_QUEUE) this.settle(connection);
  }

  alive(op: Op): void {
    if (!mayBeEndless(op)) return;
    if (op.isEndless) this.correct(op);
    const own = userOf(op);
    // If the work is not known, any connection to this peer may be the one that moved.
    for (let user = 0; user < USERS; user++)
      if (own == User.Unknown || own == <User>user)
        comesAlive(this.find(connectionKey(op.comm.number, op.channel, op.peer, user)));
  }

  /** A work's counts are final only after this call. */
  finish(): void {
    for (let i = 0; i < this.all.length; i++) {
      const connection = this.all[i];
      if (connection.isAlive || (connection.user == User.Unknown && this.isAnyAlive(connection))) continue;
      this.settle(connection);
      this.connections.push(connection);
      this.otherDirection += connection.otherDirection;
    }
  }

  private settle(connection: Connection): void {
    const waiting = connection.waiting.values();
    for (let i = 0; i < waiting.length; i++) {
      const op = waiting[i];
      const work = op.work;
      op.isEndless = true;
      this.count += 1;
      if (work === null || op.link != Link.Known) continue;
      work.children--;
      work.openChildren--;
      work.endlessOps++;
    }
    connection.waiting.clear();
  }

  private correct(op: Op): void {
    const work = op.work;
    op.isEndless = false;
    this.count -= 1;
    if (work === null || op.link != Link.Known) return;
    work.children++;
    work.openChildren++;
    work.endlessOps--;
  }

  private connectionOf(op: Op): Connection {
    const user = userOf(op);
    const key = connectionKey(op.comm.number, op.channel, op.peer, user);
    const known = this.find(key);
    if (known !== null) return known;
    const made = new Connection(op.comm.number, op.channel, op.peer, user);
    this.places.set(key, made);
    this.all.push(made);
    return made;
  }

  private find(key: u64): Connection | null {
    return this.places.has(key) ? this.places.get(key) : null;
  }

  private isAnyAlive(connection: Connection): bool {
    const comm = <i32>connection.comm;
    const channel = <i32>connection.channel;
    const peer = <i32>connection.peer;
    for (let user = 0; user < USERS; user++) {
      const connection = this.find(connectionKey(comm, channel, peer, user));
      if (connection !== null && connection.isAlive) return true;
    }
    return false;
  }
}

/** Checked first: clearing a set makes a new one, even if the set is empty. */
function comesAlive(connection: Connection | null): void {
  if (connection === null || connection.isAlive) return;
  connection.isAlive = true;
  connection.waiting.clear();
}

/** A communicator's number in a file is below 2^20, a channel is one byte. */
export function connectionKey(comm: i32, channel: i32, peer: i32, user: i32): u64 {
  return (
    (lowHalf(peer) << 32) |
    ((lowHalf(comm + 1) & 0x3fffff) << 10) |
    ((<u64>(channel & 0xff)) << 2) |
    (<u64>user)
  );
}

export function userOf(op: Op): User {
  const work = op.work;
  if (work === null || op.isForeign) return User.Unknown;
  return work.isColl ? User.Coll : User.P2p;
}

/** NCCL says isSend 1 only for its network transport, which reports all its ends. */
export function mayBeEndless(op: Op): bool {
  return !op.isSend && !op.isLost && !op.isForeign;
}
