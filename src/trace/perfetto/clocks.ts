/**
 * How times get into packets. A trace begins at one REALTIME instant; a TraceNs is the distance from it. Most packets
 * hold only the distance from the packet before (a sequence's own incremental clock, two or three bytes), the others
 * the TraceNs itself, on a clock of their sequence that began at 0 with the trace (five or six bytes; REALTIME takes nine).
 */

import { assert } from '../../base/assert.js';
import { BuiltinClock, type Clock } from './protos.js';
import { toLong } from './long.js';

export const REALTIME = BuiltinClock.BUILTIN_CLOCK_REALTIME;
export const BOOTTIME = BuiltinClock.BUILTIN_CLOCK_BOOTTIME;
/** The first of the ids that belong to the sequence that uses them. */
export const DELTA_CLOCK = 64;
export const TRACE_CLOCK = 65;

/** The start of the trace, to which times are added. */
export class TraceStart {
  constructor(readonly realtime: bigint) {
    // An int64 in the importer; the rest is room for any TraceNs, which stays below 2^53.
    assert(realtime > 0n && realtime < (1n << 63n) - (1n << 53n), `no start of a trace: ${realtime}`);
  }

  /** For a snapshot: the delta clock of the sequence it stands on begins here. */
  deltaClock(): Clock[] {
    const timestamp = toLong(this.realtime);
    return [
      { clockId: DELTA_CLOCK, timestamp, isIncremental: true },
      { clockId: REALTIME, timestamp },
    ];
  }

  /** For a snapshot: the clock of TraceNs, of the sequence it stands on. */
  traceClock(): Clock[] {
    return [
      { clockId: TRACE_CLOCK, timestamp: toLong(0n) },
      { clockId: REALTIME, timestamp: toLong(this.realtime) },
    ];
  }
}
