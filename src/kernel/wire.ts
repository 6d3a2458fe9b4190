/**
 * How long a send was on the wire for itself. A send is on the wire from the moment when the network took it (the last poll of state 20) to
 * its stop. Its own time is shorter if the rank also sends to other ranks, or if earlier sends of its connection are in flight: then no link
 * is slow. It begins when the send before it has ended, on its connection or to another rank, because some networks serve one send after the
 * other. Time that it shares with sends to n other ranks counts 1/(n + 1), as if all had the same rate. The sum of these parts of time is a
 * clock that runs slower if sends to more ranks are in flight (the virtual time of fair queueing). So a send takes only two readings of it.
 */

/** A rank that receives: the sends to it that are on the wire. */
class Destination {
  sends: i32 = 0;
}

/** The wire of one communicator. */
export class Wire {
  private readonly destinations: Map<i32, Destination> = new Map<i32, Destination>();
  /** Destinations with sends on the wire. */
  private busy: f64 = 0;
  private own: f64 = 0;
  private now: f64 = 0;
  /** Time of the clock at the latest end of a send, and at the latest end of a send to another rank. */
  private lastTo: Destination | null = null;
  private lastEnd: f64 = -Infinity;
  private otherEnd: f64 = -Infinity;

  sender(rank: i32): Sender {
    return new Sender(this, this.to(rank));
  }

  private to(rank: i32): Destination {
    if (this.destinations.has(rank)) return this.destinations.get(rank);
    const made = new Destination();
    this.destinations.set(rank, made);
    return made;
  }

  /** A send began at `from`, not long before `at`. Returns the time of the clock at `from`. */
  begins(sender: Sender, from: f64, at: f64): f64 {
    this.advance(at);
    if (sender.to.sends++ == 0) this.busy += 1;
    return this.own - (at - from) / this.busy;
  }

  /** `since`: the result of `begins`. Returns the send's own time. */
  ends(sender: Sender, since: f64, at: f64): f64 {
    this.advance(at);
    const to = sender.to;
    const ended = sender.ended;
    if (--to.sends == 0) this.busy -= 1;
    const other = this.lastTo === to ? this.otherEnd : this.lastEnd;
    if (this.lastTo !== to) this.otherEnd = this.lastEnd;
    this.lastTo = to;
    this.lastEnd = sender.ended = this.own;
    return this.own - max(since, max(ended, other));
  }

  private advance(at: f64): void {
    if (at <= this.now) return;
    this.own += (at - this.now) / max<f64>(1, this.busy);
    this.now = at;
  }
}

/** The end of a connection that sends. */
export class Sender {
  /** Time of the wire's clock when its latest send ended. */
  ended: f64 = -Infinity;

  constructor(
    readonly wire: Wire,
    readonly to: Destination,
  ) {}
}
