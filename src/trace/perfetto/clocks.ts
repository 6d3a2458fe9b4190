/**
 * How packets store times. A trace begins at a REALTIME instant, and a TraceNs counts from this instant. Most packets store the distance
 * from the packet before, on an incremental clock of their sequence (two or three bytes). Others store the TraceNs itself, on a clock of
 * their sequence that is 0 at the begin (five or six bytes, where REALTIME takes nine).
 */

import { assert } from '../../base/assert.js';
import { BuiltinClock, type Clock } from './protos.js';
import { toLong } from './long.js';

export const REALTIME = BuiltinClock.BUILTIN_CLOCK_REALTIME;
export const BOOTTIME = BuiltinClock.BUILTIN_CLOCK_BOOTTIME;
/** The first id that belongs to the sequence that uses it. */
export const DELTA_CLOCK = 64;
export const TRACE_CLOCK = 65;

/** The start of the trace; times are added to it. */
export class TraceStart {
  constructor(readonly realtime: bigint) {
    // The importer uses an int64. The margin is for any TraceNs, which stays below 2^53.
    assert(realtime > 0n && realtime < (1n << 63n) - (1n << 53n), `no start of a trace: ${realtime}`);
  }

  /** For a snapshot: its sequence's delta clock begins here. */
  deltaClock(): Clock[] {
    const timestamp = toLong(this.realtime);
    return [
      { clockId: DELTA_CLOCK, timestamp, isIncremental: true },
      { clockId: REALTIME, timestamp },
    ];
  }

  /** For a snapshot: its sequence's clock of TraceNs. */
  traceClock(): Clock[] {
    return [
      { clockId: TRACE_CLOCK, timestamp: toLong(0n) },
      { clockId: REALTIME, timestamp: toLong(this.realtime) },
    ];
  }
}
