/** What a rank exchanged with a peer, one way. The busiest have counters of their own. */
export interface PeerTraffic {
  /** Number of the communicator in this file. */
  readonly comm: number;
  /** The peer's rank in the communicator. */
  readonly peer: number;
  readonly isSend: boolean;
  /** Bytes on the wire. */
  readonly bytes: number;
}
