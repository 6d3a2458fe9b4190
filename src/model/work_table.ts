/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import { numberAt, type PackedNumbers } from '../base/packed_numbers.js';
import type { Communicator } from '../rankfile/types.js';
import type { WorkIdentity } from './work_identity.js';

export interface WorkTable {
  readonly keys: PackedNumbers;
  /** Number of the communicator; -1: not known. */
  readonly comm: PackedNumbers;
  /** Index into `funcs`. */
  readonly func: PackedNumbers;
  /** -1: a P2p. */
  readonly seq: PackedNumbers;
  readonly peer: PackedNumbers;
  readonly ordinal: PackedNumbers;
  /** 1 or 0. */
  readonly ordinalAbsolute: PackedNumbers;
  readonly count: PackedNumbers;
  /** Index into `datatypes`. */
  readonly datatype: PackedNumbers;
  /** Index into `plans`: algorithm and protocol, as RING/SIMPLE; '': NCCL names none. */
  readonly plan: PackedNumbers;
  /** Rank in the communicator; -1: the collective has no root. */
  readonly root: PackedNumbers;
  /** Ticks: the application's call if NCCL reports it and it is not a captured graph's, else the start. */
  readonly arrival: PackedNumbers;
  /** Ticks: end of the enqueueing; NaN: not reached. */
  readonly enqueued: PackedNumbers;
  readonly funcs: readonly string[];
  readonly datatypes: readonly string[];
  readonly plans: readonly string[];
}

export function workIdentity(
  table: WorkTable,
  row: number,
  communicators: readonly Communicator[],
): WorkIdentity {
  const seq = numberAt(table.seq, row);
  const comm = numberAt(table.comm, row);
  const isColl = seq >= 0;
  return {
    kind: isColl ? 'Coll' : 'P2p',
    comm: communicators.find(({ number }) => number === comm) ?? null,
    func: table.funcs[numberAt(table.func, row)]!,
    seq: isColl ? seq : null,
    peer: isColl ? null : numberAt(table.peer, row),
    ordinal: numberAt(table.ordinal, row),
    ordinalAbsolute: numberAt(table.ordinalAbsolute, row) === 1,
  };
}
