/** Collects the facts that the scan of one file keeps of its events, for the other ranks and the second pass. Draws nothing. */

import { OpenSet } from '../base/open_set.js';
import type { Ticks } from '../base/time.js';
import { ApiCalls } from '../model/api_calls.js';
import { CallTableBuilder } from '../model/call_table.js';
import { spansWithoutCalls } from '../model/control.js';
import { ForeignOpsCollector } from '../model/foreign_ops.js';
import { InsideCalls } from '../model/inside_calls.js';
import { PeerBytes } from '../model/peer_bytes.js';
import { QuietTimes } from '../model/quiet_times.js';
import { EndlessOps, type Endless } from '../model/endless_ops.js';
import { StandIns } from '../model/stand_ins.js';
import { PendingCollector } from '../model/pending.js';
import type { CtrlState, HostSpan, Kernel, Op, Work, WorkListener } from '../model/types.js';
import { WorkEnds } from '../model/work_ends.js';
import { WorkTableBuilder } from '../model/work_table.js';
import type { StepEvents, StepListener } from '../model/step_events.js';
import type { StepTable } from '../model/step_table.js';
import type { FileFacts } from '../rankfile/types.js';
import { GpuStamps, type StampedGpu } from './gpu_stamps.js';
import { SendTimeCollector } from './send_times.js';
import { SizeCounter } from './size_counts.js';
import type { StepFileWriter } from './step_file.js';
import type { TransferCollector } from './transfer_totals.js';

export class ScanCollector implements Partial<WorkListener>, StepListener {
  readonly ends = new WorkEnds();
  readonly works = new WorkTableBuilder();
  readonly calls = new ApiCalls();
  readonly callTable = new CallTableBuilder();
  readonly inside = new InsideCalls();
  readonly quiet: QuietTimes;
  readonly foreign = new ForeignOpsCollector();
  /** Operations that have not stopped. */
  readonly openOps = new OpenSet<Op>();
  readonly pending = new PendingCollector(this.openOps);
  readonly standIns = new StandIns();
  readonly size = new SizeCounter();
  readonly peers = new PeerBytes();
  readonly sendTimes = new SendTimeCollector();
  copyColls = 0;
  oddRecords = 0;
  private readonly endless = new EndlessOps(this.ends);
  private readonly gpus: GpuStamps;

  /** `stepFile` null: no side file of steps is wanted. */
  constructor(
    file: Pick<FileFacts, 'header' | 'communicators' | 'changes'>,
    private readonly stepFile: StepFileWriter | null,
    /** Null if no report is requested. */
    private readonly totals: TransferCollector | null,
  ) {
    this.quiet = new QuietTimes(spansWithoutCalls(file, file.communicators.values()));
    this.gpus = new GpuStamps(file.communicators.values(), 1e9 / file.header.tickHz);
  }

  /** Each part goes through the batch by itself: short loops over columns, where V8 makes no object of a time. */
  steps(steps: StepTable, events: StepEvents): void {
    this.size.steps(steps, events);
    this.sendTimes.steps(steps, events);
    this.stepFile?.steps(steps, events);
    this.totals?.steps(steps, events);
  }

  ctrl(ring: number, _state: CtrlState, at: Ticks): void {
    this.size.ctrl(ring, at);
  }

  hostStart(span: HostSpan, at: Ticks): void {
    this.size.call(span, at);
    if (span.kind === 'CeColl') this.copyColls++;
    this.calls.started(span);
    this.callTable.add(span);
    this.inside.started(span);
    this.quiet.hostStarted(span, at);
  }

  hostStop(span: HostSpan, at: Ticks): void {
    this.calls.stopped(span);
    this.inside.stopped(span);
    this.quiet.hostStopped(span, at);
  }

  workStart(work: Work, at: Ticks): void {
    this.size.work(work, at);
    this.pending.workStart(work, at);
    this.ends.started(work);
    this.works.add(work);
    this.calls.workStarted(work);
    this.inside.workStarted(work);
    this.quiet.workStarted(at);
  }

  workEnqueued(work: Work, at: Ticks): void {
    this.pending.workEnqueued(work, at);
    this.ends.changed(work);
    this.works.enqueued(work);
    this.quiet.moved(at);
  }

  opStart(op: Op, at: Ticks): void {
    this.size.opStart(op, at);
    this.standIns.started(op);
    this.endless.started(op);
    this.foreign.started(op);
    this.openOps.add(op);
    this.ends.opStarted(op);
    this.pending.opStart(op, at);
    this.quiet.moved(at);
  }

  opAlive(op: Op): void {
    this.size.opAlive(op);
    this.endless.alive(op);
  }

  opStop(op: Op, at: Ticks): void {
    this.openOps.delete(op);
    this.size.opStop(op);
    this.totals?.opStop(op);
    this.ends.opEnded(op);
    this.foreign.stopped(op);
    this.peers.stopped(op);
    this.pending.opStop(op, at);
    this.quiet.moved(at);
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    this.size.kernelStart(kernel, at);
    this.pending.kernelStart(kernel, at);
    this.ends.kernelStarted(kernel);
    this.quiet.moved(at);
    if (kernel.timerStart !== null) this.gpus.add(kernel, kernel.start, kernel.timerStart);
  }

  kernelStop(kernel: Kernel, at: Ticks): void {
    this.size.kernelStop(kernel);
    this.ends.kernelEnded(kernel);
    this.pending.kernelStop(kernel, at);
    this.quiet.moved(at);
    if (kernel.stop !== null && kernel.timerStop !== null)
      this.gpus.add(kernel, kernel.stop, kernel.timerStop);
  }

  oddRecord(): void {
    this.oddRecords++;
  }

  /** Call it after the last record. Only then are the counts final. */
  settle(): { endless: Endless; endlessOps: number; gpus: StampedGpu[] } {
    return { endless: this.endless.finish(), endlessOps: this.endless.count, gpus: this.gpus.finish() };
  }
}
