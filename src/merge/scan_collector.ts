/** What the scan of one file keeps of its events: what the other ranks and the second pass need to know. Draws nothing. */

import type { Ticks } from '../base/time.js';
import { LowerHull } from '../clocks/gpu_clock.js';
import { GpuLaunches, type GpuLaunch } from './gpu_launches.js';
import { GpuVotes, type GpuVote } from '../clocks/gpu_votes.js';
import { ApiCalls } from '../model/api_calls.js';
import { ForeignOpsCollector } from '../model/foreign_ops.js';
import { PeerBytes } from '../model/peer_bytes.js';
import { SilentOps, type Silent } from '../model/silent_ops.js';
import { StandIns } from '../model/stand_ins.js';
import { StandstillCollector } from '../model/standstill.js';
import type { CtrlState, GpuNs, HostSpan, Kernel, Op, Step, Work, WorkListener } from '../model/types.js';
import { WorkEnds } from '../model/work_end.js';
import { WorkTableBuilder } from '../model/work_table.js';
import type { FileFacts } from '../reader/types.js';
import { SizeCounter } from './size_counts.js';
import type { StepFileWriter } from './step_file.js';

/** A kernel stamp that may lie on the lower envelope of (noticed - stamped). */
export interface GpuStamp {
  readonly noticed: Ticks;
  readonly gpu: GpuNs;
}

/** A stamp on its way to the envelope. */
interface StampVote extends GpuVote {
  readonly stamp: GpuStamp;
  /** When its launch was called; null: by a graph, or not told. */
  readonly launched: Ticks | null;
}

export class ScanCollector implements Partial<WorkListener> {
  readonly ends = new WorkEnds();
  readonly works = new WorkTableBuilder();
  readonly calls = new ApiCalls();
  readonly foreign = new ForeignOpsCollector();
  readonly standstill = new StandstillCollector();
  readonly standIns = new StandIns();
  readonly size = new SizeCounter();
  readonly peers = new PeerBytes();
  copyColls = 0;
  private readonly silent = new SilentOps();
  private readonly hull = new LowerHull();
  private readonly stamps = new Map<number, GpuStamp>();
  private readonly launches = new GpuLaunches();
  private readonly votes = new GpuVotes<StampVote>((vote, isTooEarly) => {
    this.stamp(vote);
    if (isTooEarly) return;
    this.launches.seen(vote.gpu);
    if (vote.launched !== null) this.launches.add(vote.launched, vote.launched * this.nsPerTick, vote.gpu);
  });
  private readonly nsPerTick: number;

  /** `stepFile`: null where no side file of steps is wanted. */
  constructor(
    file: Pick<FileFacts, 'header'>,
    private readonly stepFile: StepFileWriter | null,
  ) {
    this.nsPerTick = 1e9 / file.header.tickHz;
  }

  stepStart(step: Step, at: Ticks): void {
    this.size.step(step, at);
  }

  ctrl(ring: number, _state: CtrlState, at: Ticks): void {
    this.size.ctrl(ring, at);
  }

  stepPhase(step: Step, _from: Ticks, at: Ticks): void {
    this.size.phase(step, at);
    this.stepFile?.stepPhase(step, at);
  }

  stepStop(step: Step, at: Ticks): void {
    this.stepFile?.stepStop(step, at);
  }

  hostStart(span: HostSpan, at: Ticks): void {
    this.size.call(span, at);
    if (span.kind === 'CeColl') this.copyColls++;
    this.calls.started(span);
  }

  hostStop(span: HostSpan): void {
    this.calls.stopped(span);
  }

  workStart(work: Work, at: Ticks): void {
    this.size.work(work, at);
    this.standstill.workStart(work, at);
    this.ends.started(work);
    this.works.add(work);
    this.calls.workStarted(work);
  }

  workEnqueued(work: Work, at: Ticks): void {
    this.standstill.workEnqueued(work, at);
    this.works.enqueued(work);
  }

  opStart(op: Op, at: Ticks): void {
    this.size.opStart(op, at);
    this.standIns.started(op);
    this.silent.started(op);
    this.foreign.started(op);
    this.peers.started(op);
    this.standstill.opStart(op, at);
  }

  opAlive(op: Op): void {
    this.silent.alive(op);
  }

  opStop(op: Op, at: Ticks): void {
    this.size.opStop(op);
    this.ends.opEnded(op);
    this.foreign.stopped(op);
    this.peers.stopped(op);
    this.standstill.opStop(op, at);
  }

  kernelStart(kernel: Kernel, at: Ticks): void {
    this.size.kernel(kernel, at);
    this.standstill.kernelStart(kernel, at);
    if (kernel.timerStart !== null) this.vote(kernel, kernel.start, kernel.timerStart);
  }

  kernelStop(kernel: Kernel, at: Ticks): void {
    this.ends.kernelEnded(kernel);
    this.standstill.kernelStop(kernel, at);
    if (kernel.stop !== null && kernel.timerStop !== null) this.vote(kernel, kernel.stop, kernel.timerStop);
  }

  /** After the last record, before any count is final. */
  settle(): { silent: Silent; silentOps: number } {
    this.votes.finish();
    return { silent: this.silent.finish(), silentOps: this.silent.count };
  }

  /** Which points lie on the hull does not depend on the exact tick rate, so the final one may be applied later. */
  gpuStamps(): GpuStamp[] {
    return this.hull.points().map((point) => this.stamps.get(point.x)!);
  }

  /** As for the stamps: those that bound from the other side. */
  gpuLaunches(): GpuLaunch[] {
    return this.launches.all();
  }

  /** What stamps are multiples of, from one another, ns; 0: one stamp, or none. */
  gpuStep(): number {
    return this.launches.step();
  }

  private vote({ work }: Kernel, noticed: Ticks, gpu: GpuNs): void {
    this.votes.add({
      noticed: noticed * this.nsPerTick,
      earliest: work ? work.earliest * this.nsPerTick : -Infinity,
      gpu,
      stamp: { noticed, gpu },
      launched: work?.api && !work.api.graphCaptured ? work.api.start : null,
    });
  }

  private stamp({ noticed: x, gpu, stamp }: StampVote): void {
    const before = this.stamps.get(x);
    if (before && before.gpu >= gpu) return;
    this.hull.add({ x, y: x - gpu });
    this.stamps.set(x, stamp);
    if (this.stamps.size > 4096) this.forgetInnerStamps();
  }

  private forgetInnerStamps(): void {
    const kept = this.gpuStamps();
    this.stamps.clear();
    for (const stamp of kept) this.stamps.set(stamp.noticed * this.nsPerTick, stamp);
  }
}
