/**
 * All network transfers of a file as rows of a table, in the order in which they end; those in flight follow. The rows lie in columns of 64-bit
 * integers with a bit per row that says whether it is known: as Arrow has them, so the host reads no number by itself. The host takes
 * the columns whenever they are full, so memory does not grow with the file.
 */

import { Clock } from './draw/clock';
import { Block, Host, Op, Phase, Step, Work } from './event';
import { Listener } from './listener';
import { Records } from './record';
import { TransferRow } from './result_rows';

/** Takes the rows. They are overwritten afterwards. */
export declare function takeSteps(rows: i32): void;

/** As in src/kernel/host/step_table.ts. */
const ROWS: i32 = 1 << 16;
const COLUMN_BYTES: usize = <usize>ROWS * 8;
const BITMAP_BYTES: usize = <usize>ROWS / 8;
const COLUMNS: i32 = <i32>(offsetof<TransferRow>() / 8);

export class StepTable extends Listener {
  /** Columns, then a bitmap for each. */
  readonly at: usize = heap.alloc(<usize>COLUMNS * (COLUMN_BYTES + BITMAP_BYTES));
  private readonly row: TransferRow = new TransferRow();
  private rows: i32 = 0;

  /** `startNs`: the trace's start in ns since 1970 is startUs * 1000 + startNs. */
  constructor(
    private readonly clock: Clock,
    private readonly nsPerTick: f64,
    private readonly startUs: f64,
    private readonly startNs: f64,
  ) {
    super();
  }

  stepStarted(step: Step, _at: f64): void {
    step.waitSince = step.start;
    step.gpuWait = step.peerWait = step.sendWait = step.recvWait = step.flushWait = NaN;
  }

  stepEntered(step: Step, before: Phase, _at: f64): void {
    this.leave(step, before, step.phaseSince);
    step.waitSince = max(step.phaseSince, step.waitSince);
  }

  stepStopped(step: Step, _byItself: bool, at: f64): void {
    this.leave(step, step.phase, at);
    this.add(step, this.clock.time(at));
  }

  /** After the last record, and after the polls that were going on. `steps`: all rows. */
  finish(steps: Step[]): void {
    for (let i = 0; i < steps.length; i++) if (steps[i].isInFlight) this.add(steps[i], NaN);
    takeSteps(this.rows);
  }

  private leave(step: Step, phase: Phase, at: f64): void {
    const took = Math.round(max(0, at - step.waitSince) * this.nsPerTick);
    if (phase == Phase.SendGpuWait || phase == Phase.RecvGpuWait) step.gpuWait = took;
    else if (phase == Phase.PeerWait) step.peerWait = took;
    else if (phase == Phase.SendWait) step.sendWait = took;
    else if (phase == Phase.RecvWait) step.recvWait = took;
    else if (phase == Phase.FlushWait) step.flushWait = took;
  }

  private add(step: Step, end: f64): void {
    const op = step.op;
    const row = this.row;
    const phase = step.phase;
    const start = this.clock.time(step.start);
    row.comm = known(op.comm.number);
    row.peer = op.isForeign ? NaN : known(op.peer);
    row.channel = known(op.channel);
    // A stand-in does not know its direction, but its step does.
    row.isSend = op.isLost ? directionIn(phase) : op.isSend ? 1 : 0;
    row.op = op.isLost ? NaN : <f64>op.ordinal;
    row.step = step.number;
    row.bytes = step.bytes;
    row.start = start;
    row.startTime = this.date(start);
    row.end = end;
    row.endTime = this.date(end);
    row.gpuWait = step.gpuWait;
    row.peerWait = step.peerWait;
    row.sendWait = step.sendWait;
    row.recvWait = step.recvWait;
    row.flushWait = step.flushWait;
    row.waitsIn = isNaN(end) ? <f64>phase : NaN;
    row.polls = step.polls;
    this.addWork(op);
    this.put();
  }

  private date(at: f64): f64 {
    return this.startUs + Math.floor((at + this.startNs) / 1000);
  }

  private addWork(op: Op): void {
    const row = this.row;
    const work = op.work;
    const isKnown = work !== null && !op.isForeign;
    row.func = isKnown ? <f64>work!.func : NaN;
    row.seq = isKnown && work!.isColl ? work!.seq : NaN;
    row.work = isKnown ? <f64>work!.row : NaN;
  }

  private put(): void {
    const at = this.rows++;
    const from = changetype<usize>(this.row);
    let to = this.at + ((<usize>at) << 3);
    let bits = this.at + <usize>COLUMNS * COLUMN_BYTES + ((<usize>at) >> 3);
    const bit: u8 = 1 << ((<u8>at) & 7);
    for (let column: usize = 0; column < <usize>COLUMNS; column++) {
      const value = load<f64>(from + (column << 3));
      const isKnown = !isNaN(value);
      store<i64>(to, isKnown ? <i64>value : 0);
      const before = bit == 1 ? <u8>0 : load<u8>(bits);
      store<u8>(bits, isKnown ? before | bit : before);
      to += COLUMN_BYTES;
      bits += BITMAP_BYTES;
    }
    if (this.rows < ROWS) return;
    takeSteps(ROWS);
    this.rows = 0;
  }

  // ---- what is no transfer

  hostStarted(_host: Host, _step: Step | null, _records: Records, _row: i32, _at: f64): void {}
  groupEndStarted(_host: Host, _at: f64): void {}
  hostStopped(_host: Host, _at: f64): void {}
  workStarted(_work: Work, _call: Host | null, _records: Records, _row: i32, _at: f64): void {}
  workEnqueued(_work: Work, _at: f64): void {}
  opMade(_op: Op): void {}
  opStarted(_op: Op, _at: f64): void {}
  opAlive(_op: Op): void {}
  opBytes(_op: Op, _bytes: f64, _at: f64): void {}
  opStopped(_op: Op, _at: f64): void {}
  blockStarted(_block: Block, _records: Records, _row: i32, _at: f64): void {}
  blockStopped(_block: Block, _at: f64): void {}
  ctrl(_ring: i32, _state: i32, _at: f64): void {}
}

function known(number: i32): f64 {
  return number < 0 ? NaN : <f64>number;
}

function directionIn(phase: Phase): f64 {
  if (phase == Phase.Posted) return NaN;
  return phase <= Phase.SendWait ? 1 : 0;
}
