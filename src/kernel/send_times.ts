/**
 * How long each connection's sends were on the wire, by size, counted in bins. Their medians show a slow link, and a few long sends move no
 * median. A send is on the wire from the moment when the network took it (the last poll of state 20) to its stop. So the wait for the GPU,
 * or for room at the receiver, does not count.
 *
 * A send's own time is shorter if the rank also sends to other ranks, or if earlier sends of its connection are in flight: then no link is
 * slow. It begins when the send before it has ended, on its connection or to another rank, because some networks serve one send after the
 * other. Time that it shares with sends to n other ranks counts 1/(n + 1), as if all had the same rate. The sum of these parts of time is a
 * clock that runs slower if sends to more ranks are in flight (the virtual time of fair queueing). So a send takes only two readings of it.
 */

import { lowHalf } from './bits';
import { Op, Step } from './event';
import { Comm } from './file';

/** Sizes per connection. Sends of further sizes are left out. */
const MOST_SIZES: i32 = 16;

/** Bins: four per power of two, so a quantile is known within 20 % at any length. */
const PER_OCTAVE: f64 = 4;
export const TIME_BINS: i32 = 48 * 4;

/** A rank that receives: the sends to it that are on the wire. */
class Destination {
  sends: i32 = 0;
}

/** The wire of one communicator. */
class Wire {
  private readonly destinations: Map<i32, Destination> = new Map<i32, Destination>();
  /** Destinations with sends on the wire. */
  private busy: f64 = 0;
  private own: f64 = 0;
  private now: f64 = 0;
  /** Time of the clock at the latest end of a send, and at the latest end of a send to another rank. */
  private lastTo: Destination | null = null;
  private lastEnd: f64 = -Infinity;
  private otherEnd: f64 = -Infinity;

  to(rank: i32): Destination {
    if (this.destinations.has(rank)) return this.destinations.get(rank);
    const made = new Destination();
    this.destinations.set(rank, made);
    return made;
  }

  /** A send began at `from`, not long before `at`. Returns the time of the clock at `from`. */
  begins(to: Destination, from: f64, at: f64): f64 {
    this.advance(at);
    if (to.sends++ == 0) this.busy += 1;
    return this.own - (at - from) / this.busy;
  }

  /** `since`: the result of `begins`. Returns the send's own time. */
  ends(connection: SendEnd, since: f64, at: f64): f64 {
    this.advance(at);
    const to = connection.to;
    const ended = connection.ended;
    if (--to.sends == 0) this.busy -= 1;
    const other = this.lastTo === to ? this.otherEnd : this.lastEnd;
    if (this.lastTo !== to) this.otherEnd = this.lastEnd;
    this.lastTo = to;
    this.lastEnd = connection.ended = this.own;
    return this.own - max(since, max(ended, other));
  }

  private advance(at: f64): void {
    if (at <= this.now) return;
    this.own += (at - this.now) / max<f64>(1, this.busy);
    this.now = at;
  }
}

class SizeOnWire {
  own: f64 = 0;
  readonly times: StaticArray<u32> = new StaticArray<u32>(TIME_BINS);

  /** `bytes` -1: not reported, up to interface v3. */
  constructor(readonly bytes: f64) {}
}

/** A connection of sends. */
export class SendEnd {
  readonly sizes: SizeOnWire[] = [];
  /** Time of the wire's clock when its latest send ended. */
  ended: f64 = -Infinity;
  /** The send that was on the wire longest: how long, since when, and its step. */
  longest: f64 = 0;
  longestSince: f64 = 0;
  longestStep: i32 = 0;

  constructor(
    readonly comm: i32,
    readonly channel: i32,
    readonly peer: i32,
    readonly wire: Wire,
    readonly to: Destination,
  ) {}
}

export class SendTimes {
  /** In the order of their first send. */
  readonly ends: SendEnd[] = [];
  private readonly places: Map<u64, SendEnd> = new Map<u64, SendEnd>();
  private readonly wires: Map<i32, Wire> = new Map<i32, Wire>();

  /** The network took a send, at `step.phaseSince`. */
  began(step: Step, at: f64): void {
    const end = this.endOf(step.op);
    step.sendEnd = end;
    if (end !== null) step.onWireSince = end.wire.begins(end.to, step.phaseSince, at);
  }

  stopped(step: Step, at: f64): void {
    const end = step.sendEnd;
    if (end === null) return;
    const own = end.wire.ends(end, step.onWireSince, at);
    const since = step.phaseSince;
    if (at - since > end.longest) {
      end.longest = at - since;
      end.longestSince = since;
      end.longestStep = step.number;
    }
    const size = sizeOf(end, isNaN(step.bytes) ? -1 : step.bytes);
    if (size === null) return;
    countTime(size.times, at - since);
    size.own += own;
  }

  private endOf(op: Op): SendEnd | null {
    const comm = op.comm;
    const isForeign = op.isForeign;
    const channel = op.channel;
    const peer = op.peer;
    if (!comm.isKnown || isForeign) return null;
    const key = (lowHalf(comm.number) << 40) | (lowHalf(peer) << 8) | (<u64>(channel & 0xff));
    if (this.places.has(key)) return this.places.get(key);
    const wire = this.wireOf(comm);
    const made = new SendEnd(comm.number, channel, peer, wire, wire.to(peer));
    this.places.set(key, made);
    this.ends.push(made);
    return made;
  }

  private wireOf(comm: Comm): Wire {
    const number = comm.number;
    if (this.wires.has(number)) return this.wires.get(number);
    const made = new Wire();
    this.wires.set(number, made);
    return made;
  }
}

/** null: there are too many sizes. */
function sizeOf(end: SendEnd, bytes: f64): SizeOnWire | null {
  const sizes = end.sizes;
  for (let i = 0; i < sizes.length; i++) if (sizes[i].bytes == bytes) return sizes[i];
  if (sizes.length >= MOST_SIZES) return null;
  const made = new SizeOnWire(bytes);
  sizes.push(made);
  return made;
}

function countTime(counts: StaticArray<u32>, took: f64): void {
  let octave = 0;
  let scaled = took < 1 ? 1.0 : took;
  while (scaled >= 2147483648) {
    scaled /= 65536;
    octave += 16;
  }
  const whole = 31 - clz<u32>(<u32>scaled);
  octave += whole;
  const part = <i32>Math.floor((scaled * PER_OCTAVE) / <f64>(1 << whole)) - <i32>PER_OCTAVE;
  const bin = min(octave * <i32>PER_OCTAVE + part, TIME_BINS - 1);
  unchecked(counts[bin]++);
}
