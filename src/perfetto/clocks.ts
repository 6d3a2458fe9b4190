/**
 * How times get into packets. A trace begins at one REALTIME instant; a TraceNs is the distance from it. Most packets
 * hold only the distance from the packet before (a sequence's own incremental clock, two or three bytes), the others
 * an absolute REALTIME (nine bytes), added up from 32-bit halves because a bigint per event would be slow.
 */

import type { TraceNs } from '../base/time.js';
import { assert } from '../base/assert.js';
import { BuiltinClock, type Clock } from './protos.js';
import { toLong } from './long.js';
import { putVarint64 } from './wire.js';

export const REALTIME = BuiltinClock.BUILTIN_CLOCK_REALTIME;
export const BOOTTIME = BuiltinClock.BUILTIN_CLOCK_BOOTTIME;
/** The first of the ids that belong to the sequence that uses them. */
export const DELTA_CLOCK = 64;

const TWO_32 = 2 ** 32;

/** The start of the trace, to which times are added. */
export class TraceStart {
  private readonly high: number;
  private readonly low: number;

  constructor(readonly realtime: bigint) {
    // An int64 in the importer; the rest is room for any TraceNs, which stays below 2^53.
    assert(realtime > 0n && realtime < (1n << 63n) - (1n << 53n), `no start of a trace: ${realtime}`);
    this.high = Number(realtime >> 32n);
    this.low = Number(realtime & 0xffffffffn);
  }

  /** For a snapshot: the delta clock of the sequence it stands on begins here. */
  deltaClock(): Clock[] {
    const timestamp = toLong(this.realtime);
    return [
      { clockId: DELTA_CLOCK, timestamp, isIncremental: true },
      { clockId: REALTIME, timestamp },
    ];
  }

  putAbsolute(out: Uint8Array, position: number, at: TraceNs): number {
    const low = this.low + (at >>> 0);
    const high = this.high + Math.floor(at / TWO_32) + (low >= TWO_32 ? 1 : 0);
    return putVarint64(out, position, high, low >>> 0);
  }
}
