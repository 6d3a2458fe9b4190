/**
 * How long each connection's sends were on the wire, counted by powers of two. Their medians show a slow link, and a few long sends move no
 * median. Only of collectives, because there all ranks send alike. Ticks are the file's own. From the moment the network took the send
 * (state 9) to its stop: waiting for the GPU or for room at the receiver is not on the wire.
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
  /** Sends of 2^i ticks up to less than twice as many. */
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
