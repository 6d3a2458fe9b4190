/** Counts the bytes that a rank exchanged with each peer, to choose which counters are drawn. */

import { lowHalf } from './bits';
import { Op } from './event';

/** Bytes on the wire, one way. */
export class Peer {
  bytes: f64 = 0;

  constructor(
    readonly comm: i32,
    readonly peer: i32,
    readonly isSend: bool,
  ) {}
}

export class PeerBytes {
  readonly peers: Peer[] = [];
  private readonly places: Map<u64, Peer> = new Map<u64, Peer>();

  /** For operations that have stopped, and at the end for those in flight. */
  add(op: Op): void {
    const comm = op.comm;
    const peer = op.peer;
    const isSend = op.isSend;
    const bytes = op.bytes;
    const isForeign = op.isForeign;
    const isLost = op.isLost;
    if (bytes == 0 || !comm.isKnown || isForeign || isLost) return;
    const key = (lowHalf(comm.number) << 33) | (lowHalf(peer) << 1) | (isSend ? 1 : 0);
    let tally: Peer;
    if (this.places.has(key)) tally = this.places.get(key);
    else {
      tally = new Peer(comm.number, peer, isSend);
      this.places.set(key, tally);
      this.peers.push(tally);
    }
    tally.bytes += bytes;
  }
}
