/**
 * PXN: a send may run in the proxy thread of another process of the host. The other process works for the originator. The operation carries
 * the originator's context and parent. Both are handles of the originator's recorder, so their tag names the file that explains them. The
 * pid that NCCL adds is useless, because every container has a pid 1. One file alone only has `Foreign`. Between the two passes its meaning
 * is looked up in the originator's file.
 */

import type { Ticks } from '../base/time.js';
import type { Communicator } from '../rankfile/file_types.js';

/** The owner of a foreign context. */
export interface Originator {
  /** "rank 0003". */
  readonly process: string;
  readonly comm: Communicator;
}

/** What a process executed for others, by the originator's work. */
export interface ForeignOps {
  /** As NCCL passed them: handles of the originator, if it records. */
  readonly context: bigint;
  readonly parent: bigint;
  readonly pid: number;
  readonly ops: number;
  readonly open: number;
  readonly lastStop: Ticks | null;
}
