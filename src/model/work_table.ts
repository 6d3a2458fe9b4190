/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import { Names, withRows } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import type { Communicator } from '../rankfile/types.js';
import { hasRoot } from './roots.js';
import type { Work, WorkIdentity } from './types.js';

export interface WorkTable {
  readonly keys: Float64Array;
  /** Number of the communicator; -1: not known. */
  readonly comm: Int32Array;
  /** Index into `funcs`. */
  readonly func: Uint16Array;
  readonly funcs: readonly string[];
  /** -1: a P2p. */
  readonly seq: Float64Array;
  readonly peer: Int32Array;
  readonly ordinal: Uint32Array;
  readonly ordinalAbsolute: Uint8Array;
  readonly count: Float64Array;
  /** Index into `datatypes`. */
  readonly datatype: Uint16Array;
  readonly datatypes: readonly string[];
  /** Index into `plans`: algorithm and protocol, as RING/SIMPLE; '': NCCL names none. */
  readonly plan: Uint16Array;
  readonly plans: readonly string[];
  /** Rank in the communicator; -1: the collective has no root. */
  readonly root: Int32Array;
  /** Ticks: the application's call if NCCL reports it and it is not a captured graph's, else the start. */
  readonly arrival: Float64Array;
  /** Ticks: end of the enqueueing; NaN: not reached. */
  readonly enqueued: Float64Array;
}

const FIRST_ROWS = 256;

const emptyColumns = () => ({
  keys: new Float64Array(0),
  comm: new Int32Array(0),
  func: new Uint16Array(0),
  seq: new Float64Array(0),
  peer: new Int32Array(0),
  ordinal: new Uint32Array(0),
  ordinalAbsolute: new Uint8Array(0),
  count: new Float64Array(0),
  datatype: new Uint16Array(0),
  plan: new Uint16Array(0),
  root: new Int32Array(0),
  arrival: new Float64Array(0),
  enqueued: new Float64Array(0),
});

export class WorkTableBuilder {
  private rows = 0;
  private columns = withRows(emptyColumns(), FIRST_ROWS);
  private readonly funcs = new Names();
  private readonly datatypes = new Names();
  private readonly plans = new Names();

  add(work: Work): void {
    const { row, api } = work;
    this.rows = row + 1;
    if (row === this.columns.keys.length) this.columns = withRows(this.columns, 2 * row);
    const { columns } = this;
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
    this.columns.enqueued[row] = enqueued ?? NaN;
  }

  finish(): WorkTable {
    const columns = withRows(this.columns, this.rows);
    const [funcs, datatypes, plans] = [this.funcs.all(), this.datatypes.all(), this.plans.all()];
    return { ...columns, funcs, datatypes, plans };
  }
}

const planOf = ({ algo, proto }: Work): string =>
  algo === '' || isLostText(algo) || isLostText(proto) ? '' : `${algo}/${proto}`;

export function workIdentity(
  table: WorkTable,
  row: number,
  communicators: readonly Communicator[],
): WorkIdentity {
  const seq = table.seq[row]!;
  const isColl = seq >= 0;
  return {
    kind: isColl ? 'Coll' : 'P2p',
    comm: communicators.find(({ number }) => number === table.comm[row]) ?? null,
    func: table.funcs[table.func[row]!]!,
    seq: isColl ? seq : null,
    peer: isColl ? null : table.peer[row]!,
    ordinal: table.ordinal[row]!,
    ordinalAbsolute: table.ordinalAbsolute[row] === 1,
  };
}
