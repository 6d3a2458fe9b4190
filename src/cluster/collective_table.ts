/**
 * The collectives of one communicator in columns, because a long run has millions. A rank's part changes a row. Maps by row hold the rare
 * facts: ranks that did not end, never came, or came with other arguments. Consumers see a row as a `Collective` (collective_view.ts).
 */

import { entryOf } from '../base/grouped.js';
import { Names, withRows } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import type { Arrival } from './arrival.js';
import type { RankWalk } from './rank_walk.js';
import { LatestFew } from './latest_few.js';
import { LatestTwo } from './latest_two.js';
import type { ArrivalBasis, ClusterMember } from './collective_types.js';

/** One entry of a file's table of communicators, which has a rank in this one. */
export class Entry {
  /** Numbers of the file's names in the table. */
  readonly funcs: readonly number[];
  readonly datatypes: readonly number[];
  readonly plans: readonly number[];
  /** Its newest collective. */
  row = -1;

  constructor(
    { funcs, datatypes, plans }: CollectiveTable,
    readonly member: ClusterMember,
    readonly file: number,
    readonly rank: number,
  ) {
    this.funcs = member.works.funcs.map((name) => funcs.number(name));
    this.datatypes = member.works.datatypes.map((name) => datatypes.number(name));
    this.plans = member.works.plans.map((name) => plans.number(name));
  }
}

export const BASES: readonly ArrivalBasis[] = ['kernel', 'step', 'call'];

/** As in `Collective` and `Late`; NaN is null. `gpu…` is of the last rank on the GPU, `host…` of the last caller. */
const COLUMNS = {
  // All files together may have more names than one file.
  func: new Uint32Array(0),
  datatype: new Uint32Array(0),
  plan: new Uint32Array(0),
  channels: new Uint8Array(0),
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
  known: new Uint32Array(0),
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
  hostAt: new Float64Array(0),
  hostIdleFrom: new Float64Array(0),
  hostIdleTo: new Float64Array(0),
};

const FIRST_ROWS = 64;

/** Files by row, where there are any. */
export type FilesOf = Map<number, number[]>;

export class CollectiveTable {
  columns = withRows(COLUMNS, FIRST_ROWS);
  rows = 0;
  readonly funcs = new Names();
  readonly datatypes = new Names();
  readonly plans = new Names();
  readonly came = new LatestTwo();
  readonly waited = new LatestTwo();
  readonly onGpu: LatestFew;
  readonly onHost: LatestFew;
  readonly open: FilesOf = new Map();
  readonly aborted: FilesOf = new Map();
  readonly different: FilesOf = new Map();
  readonly absent: FilesOf = new Map();
  readonly notKnown: FilesOf = new Map();
  /** By function and ordinal, then by sequence number. */
  private readonly byName = new Map<number, Map<number, number>>();

  /** `nRanks`: of the communicator; 0: not known. */
  constructor(nRanks: number) {
    this.onGpu = new LatestFew(nRanks);
    this.onHost = new LatestFew(nRanks);
  }

  /** Adds a rank's part: the work at which `walk` is now. Returns the collective's row. */
  add(entry: Entry, work: number, walk: RankWalk): number {
    const row = this.rowOf(entry, work, walk.arrival);
    this.arrives(row, entry, walk);
    this.compare(row, entry, work);
    this.ends(row, entry, work, walk);
    return row;
  }

  /** Call it when all parts are known. */
  close(): void {
    this.columns = withRows(this.columns, this.rows);
    this.came.close(this.rows);
    this.waited.close(this.rows);
  }

  private rowOf(entry: Entry, work: number, arrival: Arrival): number {
    const { works } = entry.member;
    const func = entry.funcs[works.func[work]!]!;
    const [seq, ordinal] = [works.seq[work]!, works.ordinal[work]!];
    // All ranks make the same calls in the same order.
    const next = entry.row + 1;
    if (next < this.rows && this.isAt(next, func, seq, ordinal)) return (entry.row = next);
    const name = func * 2 ** 32 + ordinal;
    const bySeq = entryOf(this.byName, name, () => new Map<number, number>());
    const known = bySeq.get(seq);
    if (known !== undefined) return (entry.row = known);
    const row = this.rows++;
    bySeq.set(seq, row);
    if (row === this.columns.func.length) this.columns = withRows(this.columns, 2 * row);
    const { columns } = this;
    columns.func[row] = func;
    columns.seq[row] = seq;
    columns.ordinal[row] = ordinal;
    columns.datatype[row] = entry.datatypes[works.datatype[work]!]!;
    columns.plan[row] = entry.plans[works.plan[work]!]!;
    columns.channels[row] = works.channels[work]!;
    columns.count[row] = works.count[work]!;
    columns.root[row] = works.root[work]!;
    columns.firstCalled[row] = arrival.called;
    columns.firstArrival[row] = arrival.isOwn ? arrival.at : arrival.latest;
    columns.firstFile[row] = entry.file;
    columns.lastArrival[row] = columns.hostCalled[row] = -Infinity;
    return (entry.row = row);
  }

  private isAt(row: number, name: number, number: number, replay: number): boolean {
    const { func, seq, ordinal } = this.columns;
    return func[row] === name && seq[row] === number && ordinal[row] === replay;
  }

  private arrives(row: number, { file, rank }: Entry, walk: RankWalk): void {
    const { arrival } = walk;
    const { columns } = this;
    columns.arrived[row]!++;
    if (arrival.called < columns.firstCalled[row]!) columns.firstCalled[row] = arrival.called;
    const surely = arrival.isOwn ? arrival.at : arrival.latest;
    if (surely < columns.firstArrival[row]!) {
      columns.firstArrival[row] = surely;
      columns.firstFile[row] = file;
    }
    if (arrival.at > columns.lastArrival[row]!) {
      columns.lastArrival[row] = arrival.at;
      columns.lastFile[row] = file;
      columns.lastRank[row] = rank;
      columns.gpuBasis[row] = BASES.indexOf(arrival.basis);
      columns.gpuCalled[row] = arrival.called;
      columns.gpuEarliest[row] = arrival.earliest;
      columns.gpuIdleFrom[row] = walk.idle.from;
      columns.gpuIdleTo[row] = walk.idle.to;
    }
    if (arrival.called > columns.hostCalled[row]!) {
      columns.hostCalled[row] = arrival.called;
      columns.hostFile[row] = file;
      columns.hostRank[row] = rank;
      columns.hostIdleFrom[row] = walk.hostIdle.from;
      columns.hostIdleTo[row] = walk.hostIdle.to;
      columns.hostAt[row] = arrival.at;
    }
    if (!arrival.onlyWaited) {
      this.came.add(row, file, rank, arrival.latest);
      columns.known[row]!++;
    }
    this.waited.add(row, file, rank, walk.waited);
    const { at, called, earliest, latest } = arrival;
    // A call alone does not tell when the GPU began.
    const waited = arrival.basis === 'call' && arrival.isOwn ? Infinity : latest;
    this.onGpu.add(row, file, rank, earliest, earliest, waited, walk.idle);
    this.onHost.add(row, file, rank, called, at, walk.waited, walk.hostIdle);
  }

  private compare(row: number, entry: Entry, work: number): void {
    const { columns, datatypes } = this;
    const { works } = entry.member;
    const datatype = entry.datatypes[works.datatype[work]!]!;
    let isSame = works.count[work] === columns.count[row] && works.root[work] === columns.root[row];
    if (datatype !== columns.datatype[row]) {
      const isKnown = !isLostText(datatypes.name(datatype));
      if (isLostText(datatypes.name(columns.datatype[row]!))) columns.datatype[row] = datatype;
      else if (isKnown) isSame = false;
    }
    if (!isSame) addFile(this.different, row, entry.file);
    if (entry.plans[works.plan[work]!] !== columns.plan[row])
      this.addPlan(row, works.plans[works.plan[work]!]!);
  }

  private addPlan(row: number, plan: string): void {
    const { columns } = this;
    const known = this.plans.name(columns.plan[row]!);
    if (plan === '' || known.split(' and ').includes(plan)) return;
    columns.plan[row] = this.plans.number(known === '' ? plan : `${known} and ${plan}`);
  }

  private ends(row: number, { member, file }: Entry, work: number, { outcome, over }: RankWalk): void {
    const { columns } = this;
    const { ends, works, time } = member;
    if (outcome === 'open') addFile(this.open, row, file);
    else columns.end[row] = later(columns.end[row]!, over);
    if (outcome === 'aborted') addFile(this.aborted, row, file);
    if (outcome === 'complete' && !(Number.isNaN(ends.lastRecv[work]!) && Number.isNaN(ends.noticed[work]!)))
      columns.isFed[row] = 1;
    const enqueued = works.enqueued[work]!;
    if (!Number.isNaN(enqueued)) columns.enqueued[row] = later(columns.enqueued[row]!, time(enqueued));
  }
}

/** NaN: not known. */
const later = (known: number, at: number): number => (Number.isNaN(at) || at <= known ? known : at);

/** A process with several GPUs counts once for each of them in `arrived`, and once here. */
export function addFile(files: FilesOf, row: number, file: number): void {
  const known = files.get(row);
  if (!known) files.set(row, [file]);
  else if (known.at(-1) !== file) known.push(file);
}
