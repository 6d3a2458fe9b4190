/** How much a rank exchanged with each peer: whose counters are worth drawing. */

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
export const BUSIEST_PEERS = 4;

export class PeerBytes {
  private readonly peers = new Map<string, { comm: number; peer: number; isSend: boolean; bytes: number }>();
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
    const all = [...this.peers.values()].filter(({ bytes }) => bytes > 0);
    return [true, false].flatMap((isSend) =>
      all
        .filter((peer) => peer.isSend === isSend)
        .sort((a, b) => b.bytes - a.bytes || a.comm - b.comm || a.peer - b.peer)
        .slice(0, BUSIEST_PEERS),
    );
  }

  private add({ comm, peer, isSend, bytes }: Op): void {
    if (!comm || bytes === 0) return;
    const key = `${comm.number} ${peer} ${isSend}`;
    const entry = this.peers.get(key) ?? { comm: comm.number, peer, isSend, bytes: 0 };
    this.peers.set(key, entry);
    entry.bytes += bytes;
  }
}
