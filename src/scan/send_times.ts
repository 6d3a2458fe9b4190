/**
 * How long each connection's sends were on the wire, by size, counted in bins. Their medians show a slow link, and a few long sends move no
 * median. A send is on the wire from the moment when the network took it (the last poll of state 20) to its stop. So the wait for the GPU,
 * or for room at the receiver, does not count. Ticks are the file's own.
 */

import { countTime, noTimes } from '../base/time_bins.js';
import { STOPPED, type StepEvents, type StepListener } from '../model/step_events.js';
import type { StepTable } from '../model/step_table.js';
import { StepPhase, type Op } from '../model/types.js';
import { SharedWire, type Connection } from './shared_wire.js';

export interface SendTimes {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** By bytes of a send (-1: not reported, up to interface v3). */
  readonly sizes: ReadonlyMap<number, SizeOnWire>;
}

/** Ticks. */
export interface SizeOnWire {
  /** base/time_bins.ts */
  readonly times: Uint32Array;
  /** Their sum without the time in which the rank's other sends used the wire (shared_wire.ts). */
  readonly own: number;
}

/** Sizes per connection. Sends of further sizes are left out. */
const MOST_SIZES = 16;

interface End extends SendTimes {
  readonly wire: SharedWire;
  readonly connection: Connection;
  readonly sizes: Map<number, { readonly times: Uint32Array; own: number }>;
}

export class SendTimeCollector implements StepListener {
  /** By communicator, then by channel and peer in one number. */
  private readonly ends = new Map<number, Map<number, End>>();
  private readonly wires = new Map<number, SharedWire>();
  /** By row of the step table, since the network took the send: its connection, and the wire's own clock then. */
  private readonly endOf: (End | null)[] = [];
  private readonly since: number[] = [];
  private lastOp: Op | null = null;
  private lastEnd: End | null = null;

  steps(steps: StepTable, { what, row: rows, at, from, length }: StepEvents): void {
    for (let i = 0; i < length; i++) {
      const row = rows[i]!;
      if (what[i] === StepPhase.SendWait) {
        const end = (this.endOf[row] = this.endOfOp(steps.op[row]!));
        if (end) this.since[row] = end.wire.begins(end.connection, from[i]!, at[i]!);
      } else if (what[i]! >= STOPPED && steps.phase[row] === StepPhase.SendWait)
        this.stopped(steps, row, at[i]!);
    }
  }

  private stopped(steps: StepTable, row: number, at: number): void {
    const end = this.endOf[row];
    if (!end) return;
    const own = end.wire.ends(end.connection, this.since[row]!, at);
    const bytes = steps.bytes[row]!;
    let size = end.sizes.get(bytes);
    if (!size) {
      if (end.sizes.size >= MOST_SIZES) return;
      end.sizes.set(bytes, (size = { times: noTimes(), own: 0 }));
    }
    countTime(size.times, at - steps.phaseSince[row]!);
    size.own += own;
  }

  finish(): SendTimes[] {
    return [...this.ends.values()].flatMap((ends) =>
      [...ends.values()].map(({ comm, channel, peer, sizes }) => ({ comm, channel, peer, sizes })),
    );
  }

  private endOfOp(op: Op): End | null {
    if (op === this.lastOp) return this.lastEnd;
    this.lastOp = op;
    return (this.lastEnd = this.endFor(op));
  }

  private endFor({ comm, foreign, channel, peer }: Op): End | null {
    if (!comm || foreign) return null;
    const { number } = comm;
    let ends = this.ends.get(number);
    let wire = this.wires.get(number);
    if (!ends) this.ends.set(number, (ends = new Map<number, End>()));
    if (!wire) this.wires.set(number, (wire = new SharedWire()));
    const key = peer * 256 + channel;
    let end = ends.get(key);
    if (!end) {
      const connection = wire.connection(peer);
      ends.set(key, (end = { comm: number, channel, peer, wire, connection, sizes: new Map() }));
    }
    return end;
  }
}
