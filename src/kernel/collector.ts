/** Collects the facts that the scan of one file keeps of its events, for the other ranks and the second pass. */

import { Calls } from './calls';
import { EndlessOps } from './endless';
import { Block, Host, Op, Phase, Step, Work } from './event';
import { EventTable } from './event_table';
import { ForeignOps } from './foreign_ops';
import { Listener } from './listener';
import { OpenSet } from './open_set';
import { BlockProgress } from './progress';
import { QuietTimes } from './quiet_times';
import { Records } from './record';
import { Drawn, Sizes } from './sizes';
import { Stamps } from './stamps';
import { StepRows } from './step_rows';
import { Transfers } from './transfers';
import { blockEnded, blockStarted, gpuBegan, opEnded } from './work_ends';

/** If this many operations are in flight, the endless ones are dropped. */
const MANY_OPS: i32 = 4096;

export class Collector extends Listener {
  /** By row. */
  readonly works: Work[] = [];
  readonly calls: Calls;
  readonly quiet: QuietTimes = new QuietTimes();
  readonly foreign: ForeignOps = new ForeignOps();
  /** Operations that have not stopped, and blocks that have not. */
  readonly openOps: OpenSet<Op> = new OpenSet<Op>();
  readonly openBlocks: OpenSet<Block> = new OpenSet<Block>();
  readonly progress: BlockProgress = new BlockProgress();
  readonly endless: EndlessOps = new EndlessOps();
  /** Operations whose start is lost, in order. */
  readonly standIns: Op[] = [];
  readonly sizes: Sizes = new Sizes();
  readonly stamps: Stamps = new Stamps();
  /** null: not wanted. */
  stepRows: StepRows | null = null;
  readonly transfers: Transfers = new Transfers();
  private manyOps: i32 = MANY_OPS;

  constructor(events: EventTable) {
    super();
    this.calls = new Calls(events);
  }

  // ---- calls

  hostStarted(host: Host, step: Step | null, _records: Records, _row: i32, at: f64): void {
    this.sizes.call(host, step === null ? null : step.op, at);
    this.calls.started(host);
    this.quiet.hostStarted(host, at);
  }

  groupEndStarted(host: Host, at: f64): void {
    this.sizes.groupEnd(host, at);
    this.quiet.moved(at);
  }

  hostStopped(host: Host, at: f64): void {
    this.calls.stopped(host);
    this.quiet.hostStopped(host, at);
  }

  // ---- works

  workStarted(work: Work, call: Host | null, _records: Records, _row: i32, at: f64): void {
    this.works.push(work);
    this.sizes.of(work.comm).add(Drawn.Work, at);
    this.sizes.callRings |= (<u64>1) << work.ring;
    this.progress.workStart(work);
    work.comm.moved(at);
    if (call !== null) this.calls.workStarted(call);
    this.quiet.workStarted(at);
  }

  workEnqueued(work: Work, at: f64): void {
    work.comm.moved(at);
    this.quiet.moved(at);
  }

  // ---- operations

  opMade(_op: Op): void {}

  opStarted(op: Op, at: f64): void {
    this.sizes.of(op.comm).add(Drawn.Op, at);
    if (op.isLost) this.standIns.push(op);
    this.endless.started(op);
    this.foreign.started(op);
    this.openOps.add(op);
    if (!op.isForeign) {
      this.progress.opStart(op);
      const work = op.work;
      if (work !== null) work.opChannels |= (<u64>1) << (op.channel & 63);
      op.comm.moved(at);
      if (this.openOps.size > this.manyOps) this.forgetEndless();
    }
    this.quiet.moved(at);
  }

  opAlive(op: Op): void {
    this.endless.alive(op);
  }

  opBytes(_op: Op, _bytes: f64, _at: f64): void {}

  opStopped(op: Op, at: f64): void {
    this.openOps.delete(op);
    opEnded(op);
    this.foreign.stopped(op);
    this.transfers.opEnded(op);
    if (!op.isForeign) op.comm.moved(at);
    this.quiet.moved(at);
  }

  private forgetEndless(): void {
    const open = this.openOps.all();
    for (let i = 0; i < open.length; i++) if (open[i].isEndless) this.openOps.delete(open[i]);
    this.manyOps = MANY_OPS + 2 * this.openOps.size;
  }

  // ---- steps

  stepStarted(step: Step, at: f64): void {
    this.sizes.of(step.op.comm).add(Drawn.Step, at);
    this.transfers.started(step);
  }

  stepEntered(step: Step, before: Phase, at: f64): void {
    this.sizes.of(step.op.comm).add(Drawn.Phase, at);
    const stepRows = this.stepRows;
    if (step.phase == Phase.SendWait) {
      this.transfers.sendBegan(step, at);
      if (stepRows !== null) stepRows.sendBegan(step, at);
    }
    this.transfers.entered(step, before);
  }

  stepStopped(step: Step, _byItself: bool, at: f64): void {
    const stepRows = this.stepRows;
    if (stepRows !== null) stepRows.stopped(step, at);
    this.transfers.stopped(step, at);
  }

  // ---- blocks and proxy threads

  blockStarted(block: Block, _records: Records, _row: i32, at: f64): void {
    this.sizes.of(block.comm).add(Drawn.Block, at);
    if (!block.isWithinBlock) this.openBlocks.add(block);
    this.progress.blockStart(block);
    block.comm.moved(at);
    blockStarted(block);
    this.quiet.moved(at);
    if (!isNaN(block.timerStart)) this.stamps.add(block, block.start, block.timerStart);
  }

  blockStopped(block: Block, at: f64): void {
    blockEnded(block);
    this.openBlocks.delete(block);
    this.progress.blockStop(block);
    block.comm.moved(at);
    this.quiet.moved(at);
    if (!isNaN(block.timerStop)) this.stamps.add(block, block.stop, block.timerStop);
  }

  ctrl(_ring: i32, _state: i32, at: f64): void {
    this.sizes.free.add(Drawn.Ctrl, at);
  }

  /** Call it after the last record, and after the polls that were going on. Only then are the counts final. `steps`: all rows. */
  finish(steps: Step[]): void {
    this.endless.finish();
    this.calls.finish();
    const open = this.openOps.all();
    for (let i = 0; i < open.length; i++) {
      const op = open[i];
      const work = op.work;
      const openSteps = op.openSteps;
      this.transfers.opEnded(op);
      if (work !== null) gpuBegan(work, op);
      if (!op.isForeign) op.comm.moved(op.lastMove);
      const stepRows = this.stepRows;
      if (stepRows !== null) for (let n = 0; n < openSteps.length; n++) stepRows.isOpen(openSteps[n]);
    }
    const transfers = this.transfers;
    for (let i = 0; i < steps.length; i++) if (steps[i].isInFlight) transfers.isOpen(steps[i]);
  }
}
