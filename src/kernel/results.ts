/**
 * What the host reads of a scanned file: rows of the classes of result_rows.ts, as tables of whatever grows with the run, and as lists in the
 * order of `putScan`. src/scan/scanned_*.ts read them in the same order.
 * NaN stands for a number that is not known. A number of 64 bits is two: its high and its low half.
 */

import { highOf, lowOf } from './bits';
import { Calls, CommCalls, Shape } from './calls';
import { Collector } from './collector';
import { BLOCK_ROWS, ConnectionRows } from './connection_rows';
import { Connection } from './endless';
import { Op, Progress, Step, Work } from './event';
import { ForeignWork } from './foreign_ops';
import { OddCounts, Unknown } from './odd';
import { Span } from './quiet_times';
import {
  BlocksRow,
  CallTotalsRow,
  CommCallsRow,
  ConnectionTotalsRow,
  EndlessConnectionRow,
  EndlessRow,
  EndRow,
  ForeignRow,
  InsideRow,
  KeptStepsRow,
  MoveRow,
  OddRow,
  OpenBlockRow,
  OpenOpRow,
  QuietRow,
  ShapeRow,
  SizeRow,
  SpanRow,
  StandInRow,
  UnknownRow,
  WorkRow,
} from './result_rows';
import { needRoom } from './room';
import { CommSize, DRAWN_KINDS } from './sizes';
import { Table, tableOf } from './table';
import { TimeCounter } from './time_counter';
import { TIME_BINS } from './transfer_totals';
import { Transfers } from './transfers';

/** Numbers one after the other, in blocks. */
export class Out {
  length: i32 = 0;
  private readonly blocks: usize[] = [];
  /** Where the next number belongs, and where its block ends. */
  private at: usize = 0;
  private end: usize = 0;

  put(number: f64): void {
    if (this.at == this.end) this.newBlock();
    store<f64>(this.at, number);
    this.at += 8;
    this.length++;
  }

  putLong(number: u64): void {
    this.put(highOf(number));
    this.put(lowOf(number));
  }

  /** A row of result_rows.ts, or of a class that extends it. */
  putRow<Row>(row: Row): void {
    for (let at: usize = 0; at < offsetof<Row>(); at += 8) this.put(load<f64>(changetype<usize>(row) + at));
  }

  /** Their number, and such rows. `Own`: the class that extends `Row`. */
  putRows<Row, Own>(rows: Own[]): void {
    this.put(rows.length);
    for (let i = 0; i < rows.length; i++) this.putRow<Row>(changetype<Row>(rows[i]));
  }

  /** Where the columns of a table lie, and its rows. */
  putTable<Row>(table: Table<Row>): void {
    this.put(<f64>table.start);
    this.put(table.rows);
  }

  /** The address of each block. */
  blockList(): StaticArray<usize> {
    return StaticArray.fromArray(this.blocks);
  }

  private newBlock(): void {
    needRoom(BLOCK_NUMBERS * 8);
    this.at = heap.alloc(BLOCK_NUMBERS * 8);
    this.end = this.at + BLOCK_NUMBERS * 8;
    this.blocks.push(this.at);
  }
}

/** Also in src/kernel/host/numbers.ts. */
export const BLOCK_NUMBERS: i32 = 4096;

export function putScan(out: Out, collector: Collector, odd: OddCounts, newestPoll: f64): void {
  out.put(newestPoll);
  out.putRow<OddRow>(odd);
  out.putRows<UnknownRow, Unknown>(odd.unknown);
  putWorks(out, collector.works);
  putPending(out, collector);
  putStandIns(out, collector.standIns);
  putCalls(out, collector);
  out.putRow<QuietRow>(collector.quiet);
  out.putRows<SpanRow, Span>(collector.quiet.quiet);
  out.putRow<EndlessRow>(collector.endless);
  out.putRows<EndlessConnectionRow, Connection>(collector.endless.connections);
  out.putRows<ForeignRow, ForeignWork>(collector.foreign.works);
  putSizes(out, collector);
  putStepRows(out, collector);
  putTransfers(out, collector.transfers);
}

function putWorks(out: Out, works: Work[]): void {
  const row = new WorkRow();
  const table = new Table<WorkRow>(works.length);
  const endTable = new Table<EndRow>(works.length);
  for (let i = 0; i < works.length; i++) {
    const work = works[i];
    const ends = work.ends;
    ends.sentAt = Math.round(work.start + work.sentAfter / ends.sentSteps);
    ends.onWire = Math.round(work.onWire / ends.sentSteps);
    ends.receivedAt = Math.round(work.start + work.receivedAfter / ends.receivedSteps);
    describe(work, row);
    table.set(i, row);
    endTable.set(i, ends);
  }
  out.putTable(table);
  out.putTable(endTable);
}

function describe(work: Work, row: WorkRow): void {
  row.key = <f64>work.key;
  row.comm = work.comm.number;
  row.func = work.func;
  row.seq = work.isColl ? work.seq : -1;
  row.peer = work.isColl ? -1 : work.peer;
  row.ordinal = work.ordinal;
  row.ordinalAbsolute = work.isOrdinalAbsolute ? 1 : 0;
  row.count = work.count;
  row.datatype = work.datatype;
  row.algo = work.algo;
  row.proto = work.proto;
  row.root = work.isColl ? work.root : -1;
  row.arrival = isNaN(work.apiStart) || work.isApiCaptured ? work.start : work.apiStart;
  row.enqueued = work.enqueued;
  row.start = work.start;
  row.group = <f64>work.group;
  row.ring = work.ring;
  row.channels = work.nChannels;
  row.opChannels = <f64>popcnt<u64>(work.opChannels);
  row.children = work.children;
  row.openChildren = work.openChildren;
  row.endlessOps = work.endlessOps;
}

function putPending(out: Out, collector: Collector): void {
  putOps(out, collector.openOps.all());
  const blocks = collector.openBlocks.all();
  const block = new OpenBlockRow();
  out.put(blocks.length);
  for (let i = 0; i < blocks.length; i++) {
    block.work = rowOf(blocks[i].work);
    block.ring = blocks[i].ring;
    block.start = blocks[i].start;
    out.putRow(block);
  }
  out.putRows<BlocksRow, Progress>(collector.progress.proven());
  const comms = collector.sizes.comms;
  const move = new MoveRow();
  out.put(comms.length);
  for (let i = 0; i < comms.length; i++) {
    const comm = comms[i].comm;
    move.comm = comm!.number;
    move.at = comm!.lastMove;
    out.putRow(move);
  }
}

function putOps(out: Out, ops: Op[]): void {
  const row = new OpenOpRow();
  out.put(ops.length);
  for (let i = 0; i < ops.length; i++) {
    const op = ops[i];
    const oldest = oldestOf(op.openSteps);
    row.work = rowOf(op.work);
    row.isForeign = op.isForeign ? 1 : 0;
    row.parentHigh = highOf(op.foreignParent);
    row.parentLow = lowOf(op.foreignParent);
    row.isEndless = op.isEndless ? 1 : 0;
    row.ring = op.ring;
    row.lastMove = op.lastMove;
    row.channel = op.channel;
    row.peer = op.peer;
    row.isSend = op.isSend ? 1 : 0;
    row.nSteps = op.nSteps;
    row.stepsDone = op.stepsDone;
    row.roomWanted = op.roomWanted;
    row.step = oldest === null ? NaN : oldest.number;
    row.phase = oldest === null ? NaN : <f64>oldest.phase;
    row.since = oldest === null ? NaN : oldest.phaseSince;
    out.putRow(row);
  }
}

function rowOf(work: Work | null): i32 {
  return work === null ? -1 : work.row;
}

function oldestOf(steps: Step[]): Step | null {
  let oldest: Step | null = null;
  for (let i = 0; i < steps.length; i++)
    if (oldest === null || steps[i].number < oldest.number) oldest = steps[i];
  return oldest;
}

function putStandIns(out: Out, standIns: Op[]): void {
  const row = new StandInRow();
  out.put(standIns.length);
  for (let i = 0; i < standIns.length; i++) {
    const op = standIns[i];
    row.stepsDone = op.hasStopped || op.openSteps.length > 0 ? 0 : op.stepsDone;
    out.putRow(row);
  }
}

function putCalls(out: Out, collector: Collector): void {
  const calls = collector.calls;
  out.putLong(calls.callers);
  out.put(calls.unknownComms);
  out.put(calls.copyColls);
  out.putRows<ShapeRow, Shape>(calls.shapes);
  out.putRows<CommCallsRow, CommCalls>(calls.comms);
  out.putTable(tableOf(calls.colls));
  const groups = calls.groups.keys();
  out.put(groups.length);
  for (let i = 0; i < groups.length; i++) out.put(<f64>groups[i]);
  out.putTable(tableOf(calls.apis));
  putInside(out, calls);
}

function putInside(out: Out, calls: Calls): void {
  const inside = calls.inside();
  const row = new InsideRow();
  out.put(inside.length);
  for (let i = 0; i < inside.length; i++) {
    const host = inside[i];
    row.comm = host.comm.number;
    row.ring = host.ring;
    row.func = host.func;
    row.datatype = host.datatype;
    row.kind = host.kind;
    row.count = host.count;
    row.root = host.root;
    row.isCaptured = host.isCaptured ? 1 : 0;
    row.at = host.start;
    row.key = <f64>host.key;
    out.putRow(row);
  }
}

function putSizes(out: Out, collector: Collector): void {
  const sizes = collector.sizes;
  out.putLong(sizes.callRings);
  putSize(out, sizes.free);
  out.put(sizes.comms.length);
  for (let i = 0; i < sizes.comms.length; i++) {
    out.put(sizes.comms[i].comm!.number);
    putSize(out, sizes.comms[i]);
  }
}

function putSize(out: Out, size: CommSize): void {
  for (let kind = 0; kind < DRAWN_KINDS; kind++) putTimes(out, size.counters[kind]);
}

function putTimes(out: Out, times: TimeCounter, lane: i32 = 0): void {
  const counts = times.counts;
  let used = counts === null ? 0 : times.bins;
  while (used > 0 && counts![(used - 1) * times.lanes + lane] == 0) used--;
  out.put(times.first);
  out.put(times.width);
  out.put(times.totals[lane]);
  out.put(used);
  for (let bin = 0; bin < used; bin++) out.put(counts![bin * times.lanes + lane]);
}

function putStepRows(out: Out, collector: Collector): void {
  const stepRows = collector.stepRows;
  if (stepRows === null) return;
  out.put(stepRows.connections.length);
  for (let i = 0; i < stepRows.connections.length; i++) {
    const one = stepRows.connections[i];
    out.putRow<KeptStepsRow>(one);
    putSteps(out, one);
  }
}

/** How many rows, and where each block of them lies. */
function putSteps(out: Out, rows: ConnectionRows): void {
  out.put(rows.rows);
  for (let row = 0; row < rows.rows; row += BLOCK_ROWS) out.put(<f64>rows.at(row));
}

function putTransfers(out: Out, transfers: Transfers): void {
  out.put(transfers.ends.length);
  for (let i = 0; i < transfers.ends.length; i++) {
    const end = transfers.ends[i];
    out.putRow<ConnectionTotalsRow>(end);
    out.put(end.sizes.length);
    for (let n = 0; n < end.sizes.length; n++) {
      const size = end.sizes[n];
      const times = size.times;
      out.putRow<SizeRow>(size);
      putTimes(out, size.ended, 0);
      putTimes(out, size.ended, 1);
      out.put(times === null ? 0 : TIME_BINS);
      if (times !== null) for (let bin = 0; bin < TIME_BINS; bin++) out.put(times[bin]);
    }
  }
  out.putRows<CallTotalsRow, CallTotalsRow>(transfers.calls);
  out.put(transfers.sent);
  for (let lane = 0; lane < transfers.ended.lanes; lane++) putTimes(out, transfers.ended, lane);
}
