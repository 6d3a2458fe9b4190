/** How much a rank exchanged with each peer: whose counters are worth drawing. */

import type { Communicator } from '../rankfile/types.js';
import type { Op } from './types.js';

export interface PeerTraffic {
  /** Number of the communicator in this file. */
  readonly comm: number;
  /** Rank in it. */
  readonly peer: number;
  readonly isSend: boolean;
  /** Wire bytes of its operations. */
  readonly bytes: number;
}

/** Peers per direction that get counters of their own. */
const BUSIEST_PEERS = 4;

type Tally = { -readonly [Field in keyof PeerTraffic]: PeerTraffic[Field] };

export class PeerBytes {
  /** By communicator, then by peer and direction in one number. */
  private readonly peers = new Map<Communicator, Map<number, Tally>>();
  private readonly open = new Set<Op>();

  started(op: Op): void {
    if (op.comm && !op.foreign && !op.lost) this.open.add(op);
  }

  stopped(op: Op): void {
    if (this.open.delete(op)) this.add(op);
  }

  /** The busiest of each direction, sends first. */
  busiest(): PeerTraffic[] {
    for (const op of this.open) this.add(op);
    this.open.clear();
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

  private add({ comm, peer, isSend, bytes }: Op): void {
    if (!comm || bytes === 0) return;
    let tallies = this.peers.get(comm);
    if (!tallies) this.peers.set(comm, (tallies = new Map<number, Tally>()));
    const key = peer * 2 + Number(isSend);
    let tally = tallies.get(key);
    if (!tally) tallies.set(key, (tally = { comm: comm.number, peer, isSend, bytes: 0 }));
    tally.bytes += bytes;
  }
}
