/**
 * Draws one rank: passes each event of its paired records to the part that draws it. The rank's ClockMap makes the trace time here, once
 * per event.
 */

import type { StepEvents, StepListener } from '../../model/step_events.js';
import type { StepTable } from '../../model/step_table.js';
import type { Ticks, TraceNs } from '../../base/time.js';
import {
  type CtrlState,
  type HostSpan,
  type Kernel,
  type OddRecord,
  type Op,
  type Work,
  type WorkListener,
} from '../../model/types.js';
import { ByteCounters, type Resolution } from './byte_counters.js';
import { Changes } from './changes.js';
import { CommGroups, drawCommunicators } from './comm_groups.js';
import type { TrackContext } from './context.js';
import { DueEnds } from './due_ends.js';
import { FlowCensus, type FlowEnds } from './flow_census.js';
import { HostTracks } from './host_tracks.js';
import { InFlight } from './in_flight.js';
import { KernelTracks } from './kernel_tracks.js';
import { OddTracks } from './odd_tracks.js';
import { OpTracks } from './op_tracks.js';
import { ProxyThreadTracks } from './proxy_thread_tracks.js';
import { describeRecorder, drawRecorder } from './recorder_tracks.js';
import type { TrackRef } from './sink.js';
import { WorkTracks } from './work_tracks.js';

export interface DrawnRank {
  /** Ends of arrows. */
  readonly flows: FlowEnds;
  readonly suspectKernels: number;
  /** Records that are drawn later than recorded, at the time of the record before them in the ring. */
  readonly reordered: number;
}

export class RankTracks implements WorkListener, StepListener {
  private readonly dueEnds = new DueEnds();
  private readonly changes = new Changes();
  private readonly flows = new FlowCensus();
  private readonly host: HostTracks;
  private readonly work: WorkTracks;
  private readonly ops: OpTracks;
  private readonly kernels: KernelTracks;
  private readonly proxyThreads: ProxyThreadTracks;
  private readonly bytes: ByteCounters;
  private readonly inFlight: InFlight;
  private readonly recorder: TrackRef;
  private readonly odd: OddTracks;
  private newest = 0 as TraceNs;
  private reordered = 0;

  constructor(
    private readonly context: TrackContext,
    resolution: Resolution,
  ) {
    const groups = new CommGroups(context.sink);
    this.host = new HostTracks(context);
    this.inFlight = new InFlight(context, this.dueEnds, this.changes, resolution.sampleNs);
    this.work = new WorkTracks(context, groups, this.dueEnds, this.inFlight);
    this.bytes = new ByteCounters(context, groups, this.changes, resolution);
    this.ops = new OpTracks(context, groups, this.flows, this.inFlight, this.bytes);
    this.kernels = new KernelTracks(context, groups);
    this.proxyThreads = new ProxyThreadTracks(context);
    this.recorder = describeRecorder(context);
    this.odd = new OddTracks(context, this.recorder);
    drawCommunicators(context, groups);
  }

  hostStart(span: HostSpan, at: Ticks): void {
    this.host.start(span, this.now(at));
  }

  hostStop(span: HostSpan, at: Ticks): void {
    this.host.stop(span, this.now(at));
  }

  workStart(work: Work, at: Ticks): void {
    this.work.start(work, this.now(at));
  }

  workEnqueued(work: Work, at: Ticks): void {
    this.work.enqueued(work, this.now(at));
  }

  /** A stand-in begins with its first step. */
  opStart(op: Op, at: Ticks): void {
    this.ops.opStart(op, op.lost ? this.context.time(at) : this.now(at));
    this.kernels.opStart(op);
  }

  opAlive(op: Op): void {
    this.ops.opAlive(op);
  }

  opBytes(op: Op, bytes: number, at: Ticks): void {
    this.bytes.moved(op, op.isSend, bytes, this.now(at));
  }

  /** The steps of all rings are known up to here. */
  opStop(op: Op, at: Ticks): void {
    this.ops.opStop(op, this.now(at));
    this.changes.settle();
    this.kernels.opStop(op);
  }

  steps(steps: StepTable, events: StepEvents): void {
    this.ops.steps.draw(steps, events);
  }

  kernelStart(kernel: Kernel): void {
    this.kernels.start(kernel);
  }

  kernelStop(kernel: Kernel): void {
    this.kernels.stop(kernel);
  }

  ctrl(ring: number, state: CtrlState, at: Ticks): void {
    this.proxyThreads.state(ring, state, this.context.time(at));
  }

  oddRecord(odd: OddRecord, at: Ticks): void {
    this.odd.add(odd, this.context.time(at));
  }

  /** After the last record. `steps`: those in flight. Returns the ends of drawn arrows. */
  finish(steps: StepTable): DrawnRank {
    this.dueEnds.flush(Infinity);
    this.changes.settle();
    this.ops.finish(steps);
    this.kernels.finish();
    this.bytes.finish();
    this.inFlight.finish();
    this.proxyThreads.finish();
    this.odd.finish();
    drawRecorder(this.context, this.recorder);
    return { flows: this.flows.all(), suspectKernels: this.kernels.suspects, reordered: this.reordered };
  }

  /** Records of a ring shared by several threads may be slightly out of order. Their time does not go back. */
  private now(at: Ticks): TraceNs {
    const time = this.context.time(at);
    if (time < this.newest) this.reordered++;
    else this.newest = time;
    this.dueEnds.flush(this.newest);
    return this.newest;
  }
}
