/**
 * How long a rank's wire was busy with each of its sends: the send's own time. A send takes longer than its own time if the rank also sends
 * to other ranks, or if earlier sends of its connection are in flight. Then no link is slow. Its own time begins when the send before it
 * has ended, on its connection or to another rank, because some networks serve one send after the other. Time that it shares with sends to
 * n other ranks counts 1/(n + 1), as if all had the same rate.
 *
 * The sum of these parts of time is a clock that runs slower if sends to more ranks are in flight (the virtual time of fair queueing). So a
 * send takes only two readings of this clock.
 */

/** A rank that receives: the sends to it that are on the wire. */
export interface Destination {
  sends: number;
}

/** A channel to it. `ended`: time of the clock when its latest send ended. */
export interface Connection {
  readonly to: Destination;
  ended: number;
}

export class SharedWire {
  private readonly destinations = new Map<number, Destination>();
  /** Destinations with sends on the wire. */
  private busy = 0;
  private own = 0;
  private now = 0;
  /** Time of the clock at the latest end of a send, and at the latest end of a send to another rank. */
  private lastTo: Destination | null = null;
  private lastEnd = -Infinity;
  private otherEnd = -Infinity;

  connection(rank: number): Connection {
    let to = this.destinations.get(rank);
    if (!to) this.destinations.set(rank, (to = { sends: 0 }));
    return { to, ended: -Infinity };
  }

  /** A send began at `from`, not long before `at`. Returns the time of the clock at `from`. */
  begins({ to }: Connection, from: number, at: number): number {
    this.advance(at);
    if (to.sends++ === 0) this.busy++;
    return this.own - (at - from) / this.busy;
  }

  /** `since`: the result of `begins`. Returns the send's own time. */
  ends(connection: Connection, since: number, at: number): number {
    this.advance(at);
    const { to, ended } = connection;
    if (--to.sends === 0) this.busy--;
    const other = this.lastTo === to ? this.otherEnd : this.lastEnd;
    if (this.lastTo !== to) this.otherEnd = this.lastEnd;
    this.lastTo = to;
    this.lastEnd = connection.ended = this.own;
    return this.own - Math.max(since, ended, other);
  }

  private advance(at: number): void {
    if (at <= this.now) return;
    this.own += (at - this.now) / Math.max(1, this.busy);
    this.now = at;
  }
}
