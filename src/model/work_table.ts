/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import { numberAt, type PackedNumbers } from '../base/packed_numbers.js';
import type { WorkRow } from '../kernel/result_rows.js';
import type { Communicator } from '../rankfile/types.js';
import type { WorkIdentity } from './work_identity.js';

/** Columns of the kernel that stay as they are: WorkRow says what they mean. */
export const KEPT_AS_THEY_ARE = [
  'key',
  'comm',
  'seq',
  'peer',
  'ordinal',
  'ordinalAbsolute',
  'count',
  'arrival',
  'enqueued',
] as const satisfies readonly (keyof WorkRow)[];

export interface WorkTable extends Readonly<Record<(typeof KEPT_AS_THEY_ARE)[number], PackedNumbers>> {
  /** Index into `funcs`. */
  readonly func: PackedNumbers;
  /** Index into `datatypes`. */
  readonly datatype: PackedNumbers;
  /** Index into `plans`: algorithm and protocol, as RING/SIMPLE; '': NCCL names none. */
  readonly plan: PackedNumbers;
  /** Rank in the communicator; -1: the function has no root. */
  readonly root: PackedNumbers;
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
