/**
 * The collectives of one communicator in columns, because a long run has millions. A rank's part changes a row. Maps by row hold the rare
 * facts: ranks that did not end, never came, or came with other arguments. Consumers see a row as a `Collective` (collective_view.ts).
 */

import { Names, placeOf, RowBlocks, type PackedColumns } from '../base/columns.js';
import { isLostText } from '../base/lost_text.js';
import { numberAt } from '../base/packed_numbers.js';
import { outcomeAt } from '../model/work_end_table.js';
import type { Arrival } from './arrival.js';
import type { RankWalk } from './rank_walk.js';
import { overAt } from './work_end_times.js';
import { LatestTwo, type TwoLatest } from './latest_two.js';
import type { ArrivalBasis, ClusterMember } from './types.js';

/** One entry of a file's table of communicators, which has a rank in this one. */
export class Entry {
  /** Numbers of the file's names in the table. */
  readonly funcs: readonly number[];
  readonly datatypes: readonly number[];
  readonly plans: readonly number[];

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
  hostAt: new Float64Array(0),
  hostIdleFrom: new Float64Array(0),
  hostIdleTo: new Float64Array(0),
};

/** Files by row, where there are any. */
export type FilesOf = Map<number, number[]>;

/** The collectives when all parts are known. */
export interface JoinedTable extends Pick<CollectiveTable, 'funcs' | 'datatypes' | 'plans' | FilesByRow> {
  readonly columns: PackedColumns<typeof COLUMNS>;
  readonly came: TwoLatest;
  readonly waited: TwoLatest;
}

type FilesByRow = 'open' | 'aborted' | 'different' | 'absent' | 'notKnown';

export class CollectiveTable {
  private readonly blocks = new RowBlocks(COLUMNS);
  readonly funcs = new Names();
  readonly datatypes = new Names();
  readonly plans = new Names();
  readonly came = new LatestTwo();
  readonly waited = new LatestTwo();
  readonly open: FilesOf = new Map();
  readonly aborted: FilesOf = new Map();
  readonly different: FilesOf = new Map();
  readonly absent: FilesOf = new Map();
  readonly notKnown: FilesOf = new Map();
  /** By function and ordinal, then by sequence number. */
  private readonly byName = new Map<number, Map<number, number>>();

  get rows(): number {
    return this.blocks.rows;
  }

  firstCalled(row: number): number {
    return this.blocks.holding(row).firstCalled[placeOf(row)]!;
  }

  /** Adds a rank's part: the work at which `walk` is now. Returns the collective's row. */
  add(entry: Entry, work: number, walk: RankWalk): number {
    const row = this.rowOf(entry, work, walk.arrival);
    this.arrives(row, entry, walk);
    this.compare(row, entry, work);
    this.ends(row, entry, work);
    return row;
  }

  /** Call it when all parts are known. */
  close(): JoinedTable {
    const { funcs, datatypes, plans, open, aborted, different, absent, notKnown } = this;
    return {
      columns: this.blocks.pack(),
      ...{ funcs, datatypes, plans, open, aborted, different, absent, notKnown },
      came: this.came.close(),
      waited: this.waited.close(),
    };
  }

  private rowOf(
    { member: { works }, funcs, datatypes, plans, file }: Entry,
    work: number,
    arrival: Arrival,
  ): number {
    const func = funcs[numberAt(works.func, work)]!;
    const [seq, ordinal] = [numberAt(works.seq, work), numberAt(works.ordinal, work)];
    const name = func * 2 ** 32 + ordinal;
    let bySeq = this.byName.get(name);
    if (!bySeq) this.byName.set(name, (bySeq = new Map<number, number>()));
    const known = bySeq.get(seq);
    if (known !== undefined) return known;
    const row = this.rows;
    bySeq.set(seq, row);
    this.blocks.growTo(row + 1);
    const columns = this.blocks.holding(row);
    const at = placeOf(row);
    columns.func[at] = func;
    columns.seq[at] = seq;
    columns.ordinal[at] = ordinal;
    columns.datatype[at] = datatypes[numberAt(works.datatype, work)]!;
    columns.plan[at] = plans[numberAt(works.plan, work)]!;
    columns.count[at] = numberAt(works.count, work);
    columns.root[at] = numberAt(works.root, work);
    columns.firstCalled[at] = arrival.called;
    columns.firstArrival[at] = arrival.isOwn ? arrival.at : arrival.latest;
    columns.firstFile[at] = file;
    columns.lastArrival[at] = columns.hostCalled[at] = -Infinity;
    return row;
  }

  private arrives(row: number, { file, rank }: Entry, walk: RankWalk): void {
    const { arrival } = walk;
    const columns = this.blocks.holding(row);
    const at = placeOf(row);
    columns.arrived[at]!++;
    if (arrival.called < columns.firstCalled[at]!) columns.firstCalled[at] = arrival.called;
    const surely = arrival.isOwn ? arrival.at : arrival.latest;
    if (surely < columns.firstArrival[at]!) {
      columns.firstArrival[at] = surely;
      columns.firstFile[at] = file;
    }
    if (arrival.at > columns.lastArrival[at]!) {
      columns.lastArrival[at] = arrival.at;
      columns.lastFile[at] = file;
      columns.lastRank[at] = rank;
      columns.gpuBasis[at] = BASES.indexOf(arrival.basis);
      columns.gpuCalled[at] = arrival.called;
      columns.gpuEarliest[at] = arrival.earliest;
      columns.gpuIdleFrom[at] = walk.idle.from;
      columns.gpuIdleTo[at] = walk.idle.to;
    }
    if (arrival.called > columns.hostCalled[at]!) {
      columns.hostCalled[at] = arrival.called;
      columns.hostFile[at] = file;
      columns.hostRank[at] = rank;
      columns.hostIdleFrom[at] = walk.hostIdle.from;
      columns.hostIdleTo[at] = walk.hostIdle.to;
      columns.hostAt[at] = arrival.at;
    }
    this.came.add(row, file, rank, arrival.latest);
    this.waited.add(row, file, rank, walk.waited);
  }

  private compare(row: number, entry: Entry, work: number): void {
    const { datatypes } = this;
    const columns = this.blocks.holding(row);
    const at = placeOf(row);
    const { works } = entry.member;
    const datatype = entry.datatypes[numberAt(works.datatype, work)]!;
    let isSame =
      numberAt(works.count, work) === columns.count[at] && numberAt(works.root, work) === columns.root[at];
    if (datatype !== columns.datatype[at]) {
      const isKnown = !isLostText(datatypes.name(datatype));
      if (isLostText(datatypes.name(columns.datatype[at]!))) columns.datatype[at] = datatype;
      else if (isKnown) isSame = false;
    }
    if (!isSame) addFile(this.different, row, entry.file);
    if (entry.plans[numberAt(works.plan, work)] !== columns.plan[at])
      this.addPlan(row, works.plans[numberAt(works.plan, work)]!);
  }

  private addPlan(row: number, plan: string): void {
    const columns = this.blocks.holding(row);
    const at = placeOf(row);
    const known = this.plans.name(columns.plan[at]!);
    if (plan === '' || known.split(' and ').includes(plan)) return;
    columns.plan[at] = this.plans.number(known === '' ? plan : `${known} and ${plan}`);
  }

  private ends(row: number, { member, file }: Entry, work: number): void {
    const columns = this.blocks.holding(row);
    const at = placeOf(row);
    const { ends, works, time } = member;
    const outcome = outcomeAt(ends, work);
    if (outcome === 'open') addFile(this.open, row, file);
    else columns.end[at] = later(columns.end[at]!, overAt(member, work));
    if (outcome === 'aborted') addFile(this.aborted, row, file);
    if (
      outcome === 'complete' &&
      !(Number.isNaN(numberAt(ends.lastRecv, work)) && Number.isNaN(numberAt(ends.noticed, work)))
    )
      columns.isFed[at] = 1;
    const enqueued = numberAt(works.enqueued, work);
    if (!Number.isNaN(enqueued)) columns.enqueued[at] = later(columns.enqueued[at]!, time(enqueued));
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
