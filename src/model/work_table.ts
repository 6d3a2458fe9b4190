/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import { type Column } from '../base/columns.js';
import type { WorkRow } from '../kernel/result_rows.js';
import type { Communicator } from '../rankfile/file_types.js';
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
  'channels',
] as const satisfies readonly (keyof WorkRow)[];

export interface WorkTable extends Readonly<Record<(typeof KEPT_AS_THEY_ARE)[number], Column>> {
  /** Index into `funcs`. */
  readonly func: Column;
  /** Index into `datatypes`. */
  readonly datatype: Column;
  /** Index into `plans`: algorithm and protocol, as RING/SIMPLE; '': NCCL names none. */
  readonly plan: Column;
  /** Rank in the communicator; -1: the function has no root. */
  readonly root: Column;
  /** Key of the group of calls in which a send or receive was called; -1: a collective, or not known. */
  readonly group: Column;
  readonly funcs: readonly string[];
  readonly datatypes: readonly string[];
  readonly plans: readonly string[];
}

export function workIdentity(
  table: WorkTable,
  row: number,
  communicators: readonly Communicator[],
): WorkIdentity {
  const seq = table.seq[row]!;
  const comm = table.comm[row]!;
  const isColl = seq >= 0;
  return {
    kind: isColl ? 'Coll' : 'P2p',
    comm: communicators.find(({ number }) => number === comm) ?? null,
    func: table.funcs[table.func[row]!]!,
    seq: isColl ? seq : null,
    peer: isColl ? null : table.peer[row]!,
    ordinal: table.ordinal[row]!,
    ordinalAbsolute: table.ordinalAbsolute[row] === 1,
  };
}
