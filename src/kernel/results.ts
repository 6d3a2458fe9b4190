/**
 * What the host reads of a scanned file: tables of whatever grows with the run, and one list of numbers, in an order that
 * src/scan/scanned_*.ts follow function by function. The list names where the tables lie.
 * NaN stands for a number that is not known. A number of 64 bits is two: its high and its low half.
 */

import { Collector } from './collector';
import { BLOCK_ROWS, ConnectionRows } from './connection_rows';
import { Host, Op, Step, Work } from './event';
import { OddCounts } from './odd';
import { Tally } from './progress';
import { needRoom } from './room';
import { CallTotalsRow, EndRow, OddRow, WorkRow } from './result_rows';
import { RowBlocks } from './row_blocks';
import { CommSize, DRAWN_KINDS } from './sizes';
import { TimeCounter } from './time_counter';
import { TIME_BINS, WAITS } from './transfer_totals';
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
    this.put(<f64>(number >> 32));
    this.put(<f64>(number & 0xffff_ffff));
  }

  putFlag(flag: bool): void {
    this.put(flag ? 1 : 0);
  }

  /** A row of result_rows.ts. */
  putRow<Row>(row: Row): void {
    this.putAll(changetype<usize>(row), <i32>(offsetof<Row>() >> 3));
  }

  /** Copies so many numbers. */
  putAll(from: usize, count: i32): void {
    for (let i = 0; i < count; i++) this.put(load<f64>(from + ((<usize>i) << 3)));
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

/** Rows of a class of result_rows.ts, column after column. */
class Table<Row> {
  readonly start: usize;

  constructor(readonly rows: i32) {
    const bytes = <usize>rows * offsetof<Row>();
    needRoom(<f64>bytes);
    this.start = heap.alloc(bytes);
  }

  set(row: i32, values: Row): void {
    let to = this.start + ((<usize>row) << 3);
    for (let from: usize = 0; from < offsetof<Row>(); from += 8) {
      store<f64>(to, load<f64>(changetype<usize>(values) + from));
      to += (<usize>this.rows) << 3;
    }
  }
}

/** Also in src/kernel/host/numbers.ts. */
export const BLOCK_NUMBERS: i32 = 4096;

export function putScan(out: Out, collector: Collector, odd: OddCounts, newestPoll: f64): void {
  out.put(newestPoll);
  putOdd(out, odd);
  putWorks(out, collector.works);
  putPending(out, collector);
  putStandIns(out, collector.standIns);
  putCalls(out, collector);
  putQuiet(out, collector);
  putEndless(out, collector);
  putForeign(out, collector);
  putSizes(out, collector);
  putStepRows(out, collector);
  putTransfers(out, collector.transfers);
}

function putOdd(out: Out, odd: OddCounts): void {
  out.putRow<OddRow>(odd);
  out.put(odd.unknown.length);
  for (let i = 0; i < odd.unknown.length; i++) {
    const one = odd.unknown[i];
    out.put(one.what);
    out.put(one.event);
    out.putLong(one.number);
    out.put(one.count);
  }
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
  const openOps = collector.openOps;
  const openBlocks = collector.openBlocks;
  const progress = collector.progress;
  const sizes = collector.sizes;
  const ops = openOps.all();
  out.put(ops.length);
  for (let i = 0; i < ops.length; i++) putOp(out, ops[i]);
  const blocks = openBlocks.all();
  out.put(blocks.length);
  for (let i = 0; i < blocks.length; i++) {
    const work = blocks[i].work;
    out.put(work === null ? -1 : work.row);
    out.put(blocks[i].ring);
    out.put(blocks[i].start);
  }
  out.put(progress.tallies.length);
  for (let i = 0; i < progress.tallies.length; i++) putTally(out, progress.tallies[i]);
  out.put(sizes.comms.length);
  for (let i = 0; i < sizes.comms.length; i++) {
    const comm = sizes.comms[i].comm;
    out.put(comm!.number);
    out.put(comm!.lastMove);
  }
}

function putOp(out: Out, op: Op): void {
  const work = op.work;
  out.put(work === null ? -1 : work.row);
  out.putFlag(op.isForeign);
  out.putLong(op.foreignParent);
  out.putFlag(op.isEndless);
  out.put(op.ring);
  out.put(op.lastMove);
  out.put(op.channel);
  out.put(op.peer);
  out.putFlag(op.isSend);
  out.put(op.nSteps);
  out.put(op.stepsDone);
  out.put(op.roomWanted);
  const oldest = oldestOf(op.openSteps);
  out.put(oldest === null ? NaN : oldest.number);
  out.put(oldest === null ? NaN : <f64>oldest.phase);
  out.put(oldest === null ? NaN : oldest.phaseSince);
}

function oldestOf(steps: Step[]): Step | null {
  let oldest: Step | null = null;
  for (let i = 0; i < steps.length; i++)
    if (oldest === null || steps[i].number < oldest.number) oldest = steps[i];
  return oldest;
}

function putTally(out: Out, tally: Tally): void {
  const ring = tally.ring;
  const full = tally.full;
  const short = tally.short;
  const waiting = tally.waiting;
  out.put(ring);
  out.put(full);
  out.put(short);
  out.put(waiting.length);
  for (let i = 0; i < waiting.length; i++) {
    const one = waiting[i];
    out.put(one.work.row);
    out.put(one.work.nChannels);
    out.put(one.begun);
    out.put(one.ended);
    out.put(one.ofOther);
    out.putFlag(one.hasOps);
  }
}

/** The number of steps done, if the stop is not in the file. 0: the stop is in the file, or a step is in flight. */
function putStandIns(out: Out, standIns: Op[]): void {
  out.put(standIns.length);
  for (let i = 0; i < standIns.length; i++) {
    const op = standIns[i];
    out.put(op.hasStopped || op.openSteps.length > 0 ? 0 : op.stepsDone);
  }
}

function putCalls(out: Out, collector: Collector): void {
  const calls = collector.calls;
  out.putLong(calls.callers);
  out.put(calls.unknownComms);
  out.put(calls.copyColls);
  out.put(calls.shapes.length);
  for (let i = 0; i < calls.shapes.length; i++) {
    const shape = calls.shapes[i];
    out.put(shape.func);
    out.put(shape.datatype);
    out.put(shape.count);
    out.put(shape.root);
  }
  out.put(calls.comms.length);
  for (let i = 0; i < calls.comms.length; i++) {
    const one = calls.comms[i];
    out.put(one.comm);
    out.put(one.calls);
    out.putFlag(one.hasCaptured);
    out.put(one.knownFrom);
    out.putFlag(calls.isLastOpen(one));
  }
  putBlocks(out, calls.colls);
  const groups = calls.groups.keys();
  out.put(groups.length);
  for (let i = 0; i < groups.length; i++) out.put(<f64>groups[i]);
  putBlocks(out, calls.apis);
  const inside = calls.inside();
  out.put(inside.length);
  for (let i = 0; i < inside.length; i++) putInside(out, inside[i]);
}

function putBlocks<Row>(out: Out, rows: RowBlocks<Row>): void {
  const table = new Table<Row>(rows.length);
  for (let row = 0; row < rows.length; row++) table.set(row, rows.at(row));
  out.putTable(table);
}

function putInside(out: Out, host: Host): void {
  out.put(host.comm.number);
  out.put(host.ring);
  out.put(host.func);
  out.put(host.datatype);
  out.put(host.kind);
  out.put(host.count);
  out.put(host.root);
  out.putFlag(host.isCaptured);
  out.put(host.start);
  out.put(<f64>host.key);
}

function putQuiet(out: Out, collector: Collector): void {
  const quiet = collector.quiet;
  out.put(quiet.newest);
  out.put(quiet.watchedFor);
  out.put(quiet.quiet.length);
  for (let i = 0; i < quiet.quiet.length; i++) {
    out.put(quiet.quiet[i].from);
    out.put(quiet.quiet[i].end);
  }
}

function putEndless(out: Out, collector: Collector): void {
  const endless = collector.endless;
  out.put(endless.count);
  out.put(endless.otherDirection);
  out.put(endless.connections.length);
  for (let i = 0; i < endless.connections.length; i++) {
    const one = endless.connections[i];
    out.put(one.comm);
    out.put(one.channel);
    out.put(one.peer);
    out.put(one.user);
  }
}

function putForeign(out: Out, collector: Collector): void {
  const foreign = collector.foreign;
  out.put(foreign.works.length);
  for (let i = 0; i < foreign.works.length; i++) {
    const one = foreign.works[i];
    out.putLong(one.context);
    out.putLong(one.parent);
    out.put(one.pid);
    out.put(one.ops);
    out.put(one.open);
    out.put(one.lastStop);
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
    out.put(one.comm.number);
    out.put(one.channel);
    out.put(one.peer);
    out.putFlag(one.isSend);
    out.put(one.sampledOut);
    out.put(one.halved[0]);
    out.put(one.halved[1]);
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
    out.put(end.comm);
    out.put(end.channel);
    out.put(end.peer);
    out.putFlag(end.isSend);
    out.put(end.transfers);
    out.put(end.bytes);
    out.putAll(changetype<usize>(end.waits), WAITS);
    out.put(end.open);
    out.put(end.openSince);
    out.put(end.openWait);
    out.put(end.drawn);
    out.put(end.longest);
    out.put(end.longestSince);
    out.put(end.longestStep);
    out.put(end.sizes.length);
    for (let n = 0; n < end.sizes.length; n++) {
      const size = end.sizes[n];
      const times = size.times;
      out.put(size.bytes);
      out.put(size.sumOfSquares);
      out.put(size.least);
      putTimes(out, size.ended, 0);
      putTimes(out, size.ended, 1);
      out.put(size.own);
      out.put(times === null ? 0 : TIME_BINS);
      if (times !== null) for (let bin = 0; bin < TIME_BINS; bin++) out.put(times[bin]);
    }
  }
  out.put(transfers.calls.length);
  for (let i = 0; i < transfers.calls.length; i++) {
    const call = transfers.calls[i];
    out.putRow<CallTotalsRow>(call);
    out.putAll(changetype<usize>(call.waits), WAITS);
  }
  out.put(transfers.sent);
  for (let lane = 0; lane < 1 + WAITS; lane++) putTimes(out, transfers.ended, lane);
}
