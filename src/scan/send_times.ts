/**
 * How long each connection's sends were on the wire, by size, counted in bins: their medians show a slow link, and a few long sends move no
 * median. Ticks are the file's own. From the moment the network took the send (state 20's last poll) to its stop: waiting for the GPU or
 * for room at the receiver is not on the wire.
 */

import type { Ticks } from '../base/time.js';
import { countTime, noTimes } from '../base/time_bins.js';
import type { StepTable } from '../model/step_table.js';
import { StepPhase, type Op } from '../model/types.js';

export interface SendTimes {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** Bytes of a send (-1: not reported, up to interface v3) → its times in ticks (base/time_bins.ts). */
  readonly sizes: ReadonlyMap<number, Uint32Array>;
}

/** Per connection; sends of further sizes are left out. */
const MOST_SIZES = 16;

interface End extends SendTimes {
  readonly sizes: Map<number, Uint32Array>;
}

export class SendTimeCollector {
  /** By communicator, then by channel and peer in one number. */
  private readonly ends = new Map<number, Map<number, End>>();
  private lastOp: Op | null = null;
  private lastBytes = -1;
  private last: Uint32Array | null = null;

  stepStop(steps: StepTable, row: number, at: Ticks): void {
    if (steps.phase[row] !== StepPhase.SendWait) return;
    const op = steps.op[row]!;
    const bytes = steps.bytes[row]!;
    if (op !== this.lastOp || bytes !== this.lastBytes) {
      this.lastOp = op;
      this.lastBytes = bytes;
      this.last = this.timesOf(op, bytes);
    }
    if (this.last) countTime(this.last, at - steps.phaseSince[row]!);
  }

  finish(): SendTimes[] {
    return [...this.ends.values()].flatMap((ends) => [...ends.values()]);
  }

  private timesOf({ comm, foreign, channel, peer }: Op, bytes: number): Uint32Array | null {
    if (!comm || foreign) return null;
    let ends = this.ends.get(comm.number);
    if (!ends) this.ends.set(comm.number, (ends = new Map<number, End>()));
    const key = peer * 256 + channel;
    let end = ends.get(key);
    if (!end) ends.set(key, (end = { comm: comm.number, channel, peer, sizes: new Map() }));
    let times = end.sizes.get(bytes);
    if (!times && end.sizes.size < MOST_SIZES) end.sizes.set(bytes, (times = noTimes()));
    return times ?? null;
  }
}
