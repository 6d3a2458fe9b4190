/**
 * PXN: a send may run in the proxy thread of another process of the host. Such an operation carries the context and the parent of the
 * process it works for, its originator. Both are handles of *that* process's recorder, so their tag says which file can explain them. The
 * pid that NCCL adds is useless: every container has a pid 1. A file alone only knows `Foreign`. Between the two passes its meaning is
 * looked up in the originator's file.
 */

import type { Communicator } from '../rankfile/types.js';
import type { WorkIdentity } from './work_identity.js';

/** What NCCL passed with an operation of another process. */
export interface Foreign {
  readonly context: bigint;
  readonly parent: bigint;
  readonly pid: number;
}

/** The owner of a foreign context. */
export interface Originator {
  /** "rank 0003". */
  readonly process: string;
  readonly comm: Communicator;
}

/** Answers of the originators' files. */
export interface Originators {
  /** null: its file is not here, or does not know this context. */
  ofContext(context: bigint): Originator | null;
  /** null: the same, or the work's record was overwritten. */
  ofWork(parent: bigint): WorkIdentity | null;
}

/** For a file without the others. */
export const NO_ORIGINATORS: Originators = { ofContext: () => null, ofWork: () => null };
