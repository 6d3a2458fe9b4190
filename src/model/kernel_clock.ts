/**
 * GPU timestamps of one file as plain numbers: relative to the first one seen. %globaltimer counts nanoseconds from
 * about the Unix epoch, too many for a double; differences within a run are exact.
 */

import type { RecordColumns } from '../reader/types.js';
import { extraBigint, hasExtra } from './record_fields.js';
import type { GpuNs } from './types.js';

export class KernelClock {
  private base: bigint | null = null;

  relative(timer: bigint): GpuNs {
    this.base ??= timer;
    return Number(timer - this.base) as GpuNs;
  }

  /** pTimer of a KernelCh start; null where it is 0 (v3). */
  startStamp(records: RecordColumns, i: number): GpuNs | null {
    const timer = extraBigint(records, i, 1, 0);
    return timer === 0n ? null : this.relative(timer);
  }

  /** The value of a State record; null where NCCL gave none (v3). */
  stopStamp(records: RecordColumns, i: number): GpuNs | null {
    return hasExtra(records, i) ? this.relative(extraBigint(records, i, 1, 0)) : null;
  }
}
