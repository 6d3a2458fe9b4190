/**
 * How long the sends of each connection were on the wire, counted by powers of two: medians of these tell a slow link from its like, and a
 * few long ones move no median. Of collectives alone: all ranks send alike in these. Ticks are the file's own.
 *
 * From when the network had taken the send (state 9) to its stop. What waited for the GPU or for room at the receiver is no wire.
 */

import type { Ticks } from '../base/time.js';
import type { StepTable } from '../model/step_table.js';
import { StepPhase, type Op } from '../model/types.js';

export interface SendTimes {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** Sends that took at least 2^i ticks, and less than twice as many. */
  readonly counts: Uint32Array;
}

const BINS = 48;

export class SendTimeCollector {
  private readonly ends = new Map<number, SendTimes>();
  private lastOp: Op | null = null;
  private last: SendTimes | null = null;

  stepStop(steps: StepTable, row: number, at: Ticks): void {
    if (steps.phase[row] !== StepPhase.SendWait) return;
    const op = steps.op[row]!;
    if (op !== this.lastOp) {
      this.lastOp = op;
      this.last = this.endOf(op);
    }
    if (!this.last) return;
    const took = at - steps.phaseSince[row]!;
    const bin = took < 1 ? 0 : took < 2 ** 31 ? 31 - Math.clz32(took) : Math.floor(Math.log2(took));
    this.last.counts[Math.min(bin, BINS - 1)]!++;
  }

  finish(): SendTimes[] {
    return [...this.ends.values()];
  }

  private endOf({ comm, foreign, of, channel, peer }: Op): SendTimes | null {
    if (!comm || foreign || of?.kind !== 'Coll') return null;
    const key = (comm.number * 256 + channel) * 2 ** 24 + peer;
    let end = this.ends.get(key);
    if (!end) {
      end = { comm: comm.number, channel, peer, counts: new Uint32Array(BINS) };
      this.ends.set(key, end);
    }
    return end;
  }
}
