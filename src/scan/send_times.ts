/**
 * How long each connection's sends were on the wire, by size, counted in bins. Their medians show a slow link, and a few long sends move no
 * median. A send is on the wire from the moment when the network took it (the last poll of state 20) to its stop. So the wait for the GPU,
 * or for room at the receiver, does not count. Ticks are the file's own.
 */

import type { Ticks } from '../base/time.js';

export interface SendTimes {
  /** Number of the communicator in its file. */
  readonly comm: number;
  readonly channel: number;
  /** The other rank of the communicator. */
  readonly peer: number;
  /** The send that was on the wire longest. Ticks. */
  readonly longest: { readonly took: number; readonly since: Ticks; readonly step: number };
  /** By bytes of a send (-1: not reported, up to interface v3). */
  readonly sizes: ReadonlyMap<number, SizeOnWire>;
}

/** Ticks. */
export interface SizeOnWire {
  /** base/time_bins.ts */
  readonly times: Uint32Array;
  /** Their sum without the time in which the rank's other sends used the wire (kernel/send_times.ts). */
  readonly own: number;
}
