/**
 * GPU timestamps of one file as plain numbers, relative to the recording's start on CLOCK_REALTIME: %globaltimer counts nanoseconds from
 * about the Unix epoch, too many for a double. Differences are exact within 100 days. (With another epoch a timer loses the last 8 bits: a
 * quarter of a microsecond.)
 */

import type { RecordColumns } from '../rankfile/types.js';
import { extra32, hasExtra } from './record_fields.js';
import type { GpuNs } from './types.js';

export class KernelClock {
  private readonly baseLow: number;
  private readonly baseHigh: number;

  /** `base`: ns since the epoch. */
  constructor(base: bigint) {
    this.baseLow = Number(BigInt.asUintN(32, base));
    this.baseHigh = Number(base >> 32n);
  }

  /** pTimer of a KernelCh or KernelPhase start; null if it is 0. */
  startStamp(records: RecordColumns, i: number): GpuNs | null {
    return this.relative(extra32(records, i, 1, 0, 1), extra32(records, i, 1, 0, 0));
  }

  /** The value of a State record, in either form; null if NCCL gave none. */
  stopStamp(records: RecordColumns, i: number): GpuNs | null {
    if (hasExtra(records, i)) return this.startStamp(records, i);
    const high = records.word2High[i]!;
    return this.relative(high >>> 16, ((high << 16) | (records.word2Low[i]! >>> 16)) >>> 0);
  }

  /** 48 ones: no value. */
  private relative(high: number, low: number): GpuNs | null {
    if ((high === 0 && low === 0) || (high === 0xffff && low === 0xffffffff)) return null;
    return ((high - this.baseHigh) * TWO_32 + (low - this.baseLow)) as GpuNs;
  }
}

const TWO_32 = 2 ** 32;
