/** Counts the bytes that a rank exchanged with each peer, to choose which counters are drawn. */

import type { Communicator } from '../rankfile/types.js';
import type { Op } from './types.js';

export interface PeerTraffic {
  /** Number of the communicator in this file. */
  readonly comm: number;
  /** The peer's rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  /** Bytes on the wire. */
  readonly bytes: number;
}

/** Peers per direction that get counters of their own. */
const BUSIEST_PEERS = 4;

type Tally = { -readonly [Field in keyof PeerTraffic]: PeerTraffic[Field] };

export class PeerBytes {
  /** By communicator, then by peer and direction in one number. */
  private readonly peers = new Map<Communicator, Map<number, Tally>>();
  private readonly directions = new Set<boolean>();
  private lastComm: Communicator | null = null;
  private last = new Map<number, Tally>();

  stopped(op: Op): void {
    this.add(op);
  }

  /** Directions in which any bytes went: 0 to 2. Call it after `busiest`. */
  get used(): number {
    return this.directions.size;
  }

  /** The busiest of each direction, sends first. `open`: in flight. */
  busiest(open: readonly Op[]): PeerTraffic[] {
    for (const op of open) this.add(op);
    const all = [...this.peers.values()]
      .flatMap((tallies) => [...tallies.values()])
      .filter(({ bytes }) => bytes > 0);
    return [true, false].flatMap((isSend) =>
      all
        .filter((peer) => peer.isSend === isSend)
        .sort((a, b) => b.bytes - a.bytes || a.comm - b.comm || a.peer - b.peer)
        .slice(0, BUSIEST_PEERS),
    );
  }

  private add({ comm, peer, isSend, bytes, foreign, lost }: Op): void {
    if (bytes === 0) return;
    this.directions.add(isSend);
    if (!comm || foreign || lost) return;
    const tallies = this.talliesOf(comm);
    const key = peer * 2 + Number(isSend);
    let tally = tallies.get(key);
    if (!tally) tallies.set(key, (tally = { comm: comm.number, peer, isSend, bytes: 0 }));
    tally.bytes += bytes;
  }

  private talliesOf(comm: Communicator): Map<number, Tally> {
    if (comm === this.lastComm) return this.last;
    let tallies = this.peers.get(comm);
    if (!tallies) this.peers.set(comm, (tallies = new Map<number, Tally>()));
    this.lastComm = comm;
    this.last = tallies;
    return tallies;
  }
}
