/**
 * PXN: a send may run in the proxy thread of another process of the host. Such an operation carries the context and the
 * parent of the process it works for, its originator; both are handles of *that* process's recorder, so their tag says
 * which file can explain them. The pid that NCCL adds names nothing: every container has a pid 1.
 *
 * A file alone only knows `Foreign`. What it means is looked up in the originator's file between the two passes.
 */

import type { Communicator } from '../rankfile/types.js';
import type { WorkIdentity } from './work_identity.js';

/** As NCCL passed it. */
export interface Foreign {
  readonly context: bigint;
  readonly parent: bigint;
  readonly pid: number;
}

/** Whose communicator a foreign context is. */
export interface Originator {
  /** "rank 0003". */
  readonly process: string;
  readonly comm: Communicator;
}

/** Answers of the originators' files. */
export interface Originators {
  /** null: its file is not here, or does not know this context. */
  ofContext(context: bigint): Originator | null;
  /** null: likewise, or the work's record was overwritten. */
  ofWork(parent: bigint): WorkIdentity | null;
}

/** What one file knows of others. */
export const NO_ORIGINATORS: Originators = { ofContext: () => null, ofWork: () => null };
