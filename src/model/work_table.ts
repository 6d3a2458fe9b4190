/**
 * The works of one file in columns, one row each, for other files. A file that executed operations for this one (PXN) names a work by the
 * handle of its start record.
 */

import type { Communicator } from '../rankfile/types.js';
import type { HandleKey } from './record_fields.js';
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
  /** Rank in the communicator; -1: the collective has no root. */
  readonly root: Int32Array;
  /** Ticks: the application's call if NCCL reports it and it is not a captured graph's, else the start. */
  readonly arrival: Float64Array;
  /** Ticks: end of the enqueueing; NaN: not reached. */
  readonly enqueued: Float64Array;
}

export class WorkTableBuilder {
  private readonly rows: {
    key: HandleKey;
    comm: number;
    func: number;
    seq: number;
    peer: number;
    ordinal: number;
    ordinalAbsolute: boolean;
    count: number;
    datatype: number;
    root: number;
    arrival: number;
    enqueued: number;
  }[] = [];
  private readonly funcs = new Names();
  private readonly datatypes = new Names();

  add(work: Work): void {
    this.rows[work.row] = {
      key: work.key,
      comm: work.comm?.number ?? -1,
      func: this.funcs.number(work.func),
      seq: work.seq ?? -1,
      peer: work.peer ?? -1,
      ordinal: work.ordinal,
      ordinalAbsolute: work.ordinalAbsolute,
      count: work.count,
      datatype: this.datatypes.number(work.datatype),
      root: work.root !== null && hasRoot(work.func) ? work.root : -1,
      arrival: work.api && !work.api.graphCaptured ? work.api.start : work.start,
      enqueued: NaN,
    };
  }

  enqueued({ row, enqueued }: Work): void {
    this.rows[row]!.enqueued = enqueued ?? NaN;
  }

  finish(): WorkTable {
    const { rows, funcs, datatypes } = this;
    const table = {
      keys: new Float64Array(rows.length),
      comm: new Int32Array(rows.length),
      func: new Uint16Array(rows.length),
      funcs: funcs.all(),
      seq: new Float64Array(rows.length),
      peer: new Int32Array(rows.length),
      ordinal: new Uint32Array(rows.length),
      ordinalAbsolute: new Uint8Array(rows.length),
      count: new Float64Array(rows.length),
      datatype: new Uint16Array(rows.length),
      datatypes: datatypes.all(),
      root: new Int32Array(rows.length),
      arrival: new Float64Array(rows.length),
      enqueued: new Float64Array(rows.length),
    };
    rows.forEach((row, i) => {
      table.keys[i] = row.key;
      table.comm[i] = row.comm;
      table.func[i] = row.func;
      table.seq[i] = row.seq;
      table.peer[i] = row.peer;
      table.ordinal[i] = row.ordinal;
      table.ordinalAbsolute[i] = Number(row.ordinalAbsolute);
      table.count[i] = row.count;
      table.datatype[i] = row.datatype;
      table.root[i] = row.root;
      table.arrival[i] = row.arrival;
      table.enqueued[i] = row.enqueued;
    });
    return table;
  }
}

/** A row holds its strings as numbers. */
class Names {
  private readonly numbers = new Map<string, number>();

  number(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    this.numbers.set(name, this.numbers.size);
    return this.numbers.size - 1;
  }

  all(): string[] {
    return [...this.numbers.keys()];
  }
}

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
