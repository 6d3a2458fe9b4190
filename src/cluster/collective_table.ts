/**
 * The collectives of one communicator in columns, because a long run has millions. A rank's part changes a row. What few collectives have (ranks
 * that did not end, never came, or came with other arguments) lies in maps by row. Consumers see a row as a `Collective`
 * (collective_view.ts).
 */

import { Names, withRows } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import type { WorkTable } from '../model/work_table.js';
import type { ArrivalBasis } from './arrival.js';
import type { Coming } from './course.js';
import { overAt } from './ends.js';
import { LastTwo } from './last_two.js';
import type { ClusterMember } from './types.js';

/** How one rank of the communicator came to a collective. */
export interface RankComing extends Coming {
  readonly file: number;
  /** In the communicator. */
  readonly rank: number;
}

export const BASES: readonly ArrivalBasis[] = ['kernel', 'step', 'call'];

const FIRST_ROWS = 64;

/** As in `Collective` and `Late`; NaN is null. `gpu…` is of the last rank on the GPU, `host…` of the last caller. */
const emptyColumns = () => ({
  // All files together may have more names than one file.
  func: new Uint32Array(0),
  datatype: new Uint32Array(0),
  count: new Float64Array(0),
  root: new Int32Array(0),
  seq: new Float64Array(0),
  ordinal: new Uint32Array(0),
  firstCalled: new Float64Array(0),
  firstArrival: new Float64Array(0),
  firstFile: new Int32Array(0),
  lastArrival: new Float64Array(0),
  lastFile: new Int32Array(0),
  lastRank: new Int32Array(0),
  arrived: new Uint32Array(0),
  isFed: new Uint8Array(0),
  end: new Float64Array(0),
  enqueued: new Float64Array(0),
  /** Index into BASES. */
  gpuBasis: new Uint8Array(0),
  gpuCalled: new Float64Array(0),
  gpuEarliest: new Float64Array(0),
  gpuIdleFrom: new Float64Array(0),
  gpuIdleTo: new Float64Array(0),
  hostFile: new Int32Array(0),
  hostRank: new Int32Array(0),
  hostCalled: new Float64Array(0),
  hostIdleFrom: new Float64Array(0),
  hostIdleTo: new Float64Array(0),
});

/** Files by row, where there are any. */
export type FilesOf = Map<number, number[]>;

export class CollectiveTable {
  rows = 0;
  columns = emptyColumns();
  readonly funcs = new Names();
  readonly datatypes = new Names();
  readonly came = new LastTwo();
  readonly waited = new LastTwo();
  readonly open: FilesOf = new Map();
  readonly aborted: FilesOf = new Map();
  readonly different: FilesOf = new Map();
  readonly absent: FilesOf = new Map();
  readonly notKnown: FilesOf = new Map();
  /** By function and ordinal, then by sequence number. */
  private readonly byName = new Map<number, Map<number, number>>();

  /** Adds a rank's part. Returns the collective's row. */
  add(member: ClusterMember, work: number, coming: RankComing): number {
    const row = this.rowOf(member.works, work, coming);
    this.arrives(row, coming);
    this.compare(row, member.works, work, coming.file);
    this.ends(row, member, work, coming.file);
    return row;
  }

  /** All parts are known. */
  close(): void {
    this.resize(this.rows);
    this.byName.clear();
  }

  private rowOf(works: WorkTable, work: number, { arrival, file }: RankComing): number {
    const func = this.funcs.number(works.funcs[works.func[work]!]!);
    const [seq, ordinal] = [works.seq[work]!, works.ordinal[work]!];
    const name = func * 2 ** 32 + ordinal;
    let bySeq = this.byName.get(name);
    if (!bySeq) this.byName.set(name, (bySeq = new Map<number, number>()));
    const known = bySeq.get(seq);
    if (known !== undefined) return known;
    const row = this.rows++;
    bySeq.set(seq, row);
    if (row === this.columns.func.length) this.resize(Math.max(FIRST_ROWS, 2 * row));
    const { columns } = this;
    columns.func[row] = func;
    columns.seq[row] = seq;
    columns.ordinal[row] = ordinal;
    columns.datatype[row] = this.datatypes.number(works.datatypes[works.datatype[work]!]!);
    columns.count[row] = works.count[work]!;
    columns.root[row] = works.root[work]!;
    columns.firstCalled[row] = arrival.called;
    columns.firstArrival[row] = arrival.at;
    columns.firstFile[row] = file;
    columns.lastArrival[row] = columns.hostCalled[row] = -Infinity;
    return row;
  }

  private resize(rows: number): void {
    this.columns = withRows(this.columns, rows);
    this.came.resize(rows);
    this.waited.resize(rows);
  }

  private arrives(row: number, { arrival, idle, hostIdle, waited, file, rank }: RankComing): void {
    const { columns } = this;
    columns.arrived[row]!++;
    if (arrival.called < columns.firstCalled[row]!) columns.firstCalled[row] = arrival.called;
    if (arrival.at < columns.firstArrival[row]!) {
      columns.firstArrival[row] = arrival.at;
      columns.firstFile[row] = file;
    }
    if (arrival.at > columns.lastArrival[row]!) {
      columns.lastArrival[row] = arrival.at;
      columns.lastFile[row] = file;
      columns.lastRank[row] = rank;
      columns.gpuBasis[row] = BASES.indexOf(arrival.basis);
      columns.gpuCalled[row] = arrival.called;
      columns.gpuEarliest[row] = arrival.earliest;
      columns.gpuIdleFrom[row] = idle.from;
      columns.gpuIdleTo[row] = idle.to;
    }
    if (arrival.called > columns.hostCalled[row]!) {
      columns.hostCalled[row] = arrival.called;
      columns.hostFile[row] = file;
      columns.hostRank[row] = rank;
      columns.hostIdleFrom[row] = hostIdle.from;
      columns.hostIdleTo[row] = hostIdle.to;
    }
    this.came.add(row, file, rank, arrival.latest);
    this.waited.add(row, file, rank, waited);
  }

  private compare(row: number, works: WorkTable, work: number, file: number): void {
    const { columns, datatypes } = this;
    const datatype = datatypes.number(works.datatypes[works.datatype[work]!]!);
    let isSame = works.count[work] === columns.count[row] && works.root[work] === columns.root[row];
    if (datatype !== columns.datatype[row]) {
      const isKnown = !isLostText(datatypes.name(datatype));
      if (isLostText(datatypes.name(columns.datatype[row]!))) columns.datatype[row] = datatype;
      else if (isKnown) isSame = false;
    }
    if (!isSame) addFile(this.different, row, file);
  }

  private ends(row: number, member: ClusterMember, work: number, file: number): void {
    const { columns } = this;
    const end = member.endOf(work);
    if (end.outcome === 'open') addFile(this.open, row, file);
    else columns.end[row] = later(columns.end[row]!, overAt(member, work));
    if (end.outcome === 'aborted') addFile(this.aborted, row, file);
    if (end.outcome === 'complete' && (end.lastRecv !== null || end.lastKernel !== null))
      columns.isFed[row] = 1;
    const enqueued = member.works.enqueued[work]!;
    if (!Number.isNaN(enqueued)) columns.enqueued[row] = later(columns.enqueued[row]!, member.time(enqueued));
  }
}

const later = (known: number, at: number | null): number => (at === null || at <= known ? known : at);

/** A process with several GPUs counts once for each of them in `arrived`, and once here. */
export function addFile(files: FilesOf, row: number, file: number): void {
  const known = files.get(row);
  if (!known) files.set(row, [file]);
  else if (known.at(-1) !== file) known.push(file);
}
