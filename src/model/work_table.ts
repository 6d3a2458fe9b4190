/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import { Names, placeOf, RowBlocks, type PackedColumns } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import { numberAt } from '../base/packed_numbers.js';
import type { Communicator } from '../rankfile/types.js';
import { hasRoot } from './roots.js';
import type { Work, WorkIdentity } from './types.js';

export interface WorkTable extends PackedColumns<typeof COLUMNS> {
  readonly funcs: readonly string[];
  readonly datatypes: readonly string[];
  readonly plans: readonly string[];
}

const COLUMNS = {
  keys: new Float64Array(0),
  /** Number of the communicator; -1: not known. */
  comm: new Int32Array(0),
  /** Index into `funcs`. */
  func: new Uint32Array(0),
  /** -1: a P2p. */
  seq: new Float64Array(0),
  peer: new Int32Array(0),
  ordinal: new Uint32Array(0),
  /** 1 or 0. */
  ordinalAbsolute: new Uint8Array(0),
  count: new Float64Array(0),
  /** Index into `datatypes`. */
  datatype: new Uint32Array(0),
  /** Index into `plans`: algorithm and protocol, as RING/SIMPLE; '': NCCL names none. */
  plan: new Uint32Array(0),
  /** Rank in the communicator; -1: the collective has no root. */
  root: new Int32Array(0),
  /** Ticks: the application's call if NCCL reports it and it is not a captured graph's, else the start. */
  arrival: new Float64Array(0),
  /** Ticks: end of the enqueueing; NaN: not reached. */
  enqueued: new Float64Array(0),
};

export class WorkTableBuilder {
  private readonly rows = new RowBlocks(COLUMNS);
  private readonly funcs = new Names();
  private readonly datatypes = new Names();
  private readonly plans = new Names();

  add(work: Work): void {
    const { api } = work;
    this.rows.growTo(work.row + 1);
    const columns = this.rows.holding(work.row);
    const row = placeOf(work.row);
    columns.keys[row] = work.key;
    columns.comm[row] = work.comm?.number ?? -1;
    columns.func[row] = this.funcs.number(work.func);
    columns.seq[row] = work.seq ?? -1;
    columns.peer[row] = work.peer ?? -1;
    columns.ordinal[row] = work.ordinal;
    columns.ordinalAbsolute[row] = Number(work.ordinalAbsolute);
    columns.count[row] = work.count;
    columns.datatype[row] = this.datatypes.number(work.datatype);
    columns.plan[row] = this.plans.number(planOf(work));
    columns.root[row] = work.root !== null && hasRoot(work.func) ? work.root : -1;
    columns.arrival[row] = api && !api.graphCaptured ? api.start : work.start;
  }

  enqueued({ row, enqueued }: Work): void {
    this.rows.holding(row).enqueued[placeOf(row)] = enqueued ?? NaN;
  }

  finish(): WorkTable {
    const [funcs, datatypes, plans] = [this.funcs.all(), this.datatypes.all(), this.plans.all()];
    return { ...this.rows.pack(), funcs, datatypes, plans };
  }
}

const planOf = ({ algo, proto }: Work): string =>
  algo === '' || isLostText(algo) || isLostText(proto) ? '' : `${algo}/${proto}`;

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
