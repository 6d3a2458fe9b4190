/**
 * GPU timestamps of one file as plain numbers, relative to the recording's start on CLOCK_REALTIME: %globaltimer counts nanoseconds from
 * about the Unix epoch, too many for a double. Differences are exact within 100 days. (With another epoch a timer loses the last 8 bits: a
 * quarter of a microsecond.)
 */

import type { RecordColumns } from '../rankfile/types.js';
import { extraBigint, hasExtra } from './record_fields.js';
import type { GpuNs } from './types.js';

export class KernelClock {
  /** `base`: ns since the epoch. */
  constructor(private readonly base: bigint) {}

  /** pTimer of a KernelCh or KernelPhase start; null if it is 0. */
  startStamp(records: RecordColumns, i: number): GpuNs | null {
    return this.relative(extraBigint(records, i, 1, 0));
  }

  /** The value of a State record, in either form; null if NCCL gave none. */
  stopStamp(records: RecordColumns, i: number): GpuNs | null {
    if (hasExtra(records, i)) return this.relative(extraBigint(records, i, 1, 0));
    const value = (BigInt(records.word2High[i]!) << 16n) | BigInt(records.word2Low[i]! >>> 16);
    return this.relative(value);
  }

  private relative(timer: bigint): GpuNs | null {
    return timer === 0n || timer === NO_VALUE ? null : (Number(timer - this.base) as GpuNs);
  }
}

const NO_VALUE = (1n << 48n) - 1n;
