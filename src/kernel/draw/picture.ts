/**
 * Draws one rank: each event of its paired records goes to the part that draws it, if its communicator is selected. The file's clock makes
 * the time of the trace here, once per event.
 */

import { Block, Host, HostKind, Link, Op, Phase, Step, Work } from '../event';
import { Comm } from '../comm';
import { Listener } from '../listener';
import { OddCounts } from '../odd';
import { Records } from '../record';
import { Blocks } from './blocks';
import { ByteCounters } from './byte_counters';
import { Clock } from './clock';
import { CommGroups } from './comm_groups';
import { Changes } from './counters';
import { DueEnds } from './due_ends';
import { FlowCensus } from './flow_census';
import { commOf } from './host_labels';
import { HostThreads } from './host_threads';
import { InFlight } from './in_flight';
import { drawOddRecords } from './odd_records';
import { Ops } from './ops';
import { Origins } from './origins';
import { ProxyThreads } from './proxy_threads';
import { Sink } from './sink';
import { Steps } from './steps';
import { Track } from './tracks';
import { Window } from './windows';
import { WorkEnds } from './work_ends';
import { Works } from './works';

/** A start record that the drawing reads has at most this many slots. */
const HOST_SLOTS: i32 = 4;
const SLOT_BYTES: usize = 32;

export class Picture extends Listener {
  readonly groups: CommGroups;
  readonly origins: Origins;
  readonly workEnds: WorkEnds;
  readonly flows: FlowCensus;
  readonly threads: HostThreads;
  readonly bytes: ByteCounters;
  readonly ops: Ops;
  readonly steps: Steps;
  readonly blocks: Blocks;
  /** Records that are drawn later than recorded, at the time of the record before them. */
  reordered: f64 = 0;
  /** Tick of the last sign of life, if the state of threads is not known after it; NaN: it is. */
  knownUntil: f64 = NaN;
  /** Steps that begin later are not drawn. */
  private readonly stepWindow: Window | null;
  private readonly dueEnds: DueEnds;
  private readonly changes: Changes;
  private readonly inFlight: InFlight;
  readonly works: Works;
  private readonly proxyThreads: ProxyThreads;
  private newest: f64 = 0;

  constructor(
    readonly sink: Sink,
    readonly clock: Clock,
    recordsKernels: bool,
    binNs: f64,
    sampleNs: f64,
  ) {
    super();
    const dueEnds = new DueEnds();
    const changes = new Changes();
    const groups = new CommGroups(sink);
    const origins = new Origins();
    const workEnds = new WorkEnds();
    const flows = new FlowCensus();
    const inFlight = new InFlight(sink, clock, dueEnds, changes, sampleNs);
    const bytes = new ByteCounters(sink, groups, changes, binNs, sampleNs);
    const ops = new Ops(sink, groups, flows, inFlight, origins);
    const steps = new Steps(sink, clock, flows, bytes, ops);
    const windows = sink.windows;
    this.dueEnds = dueEnds;
    this.changes = changes;
    this.groups = groups;
    this.origins = origins;
    this.workEnds = workEnds;
    this.flows = flows;
    this.inFlight = inFlight;
    this.bytes = bytes;
    this.ops = ops;
    this.steps = steps;
    this.threads = new HostThreads(sink);
    this.works = new Works(sink, clock, groups, dueEnds, inFlight, workEnds);
    this.blocks = new Blocks(sink, clock, groups, recordsKernels);
    this.proxyThreads = new ProxyThreads(sink);
    this.stepWindow = windows === null ? new Window(-Infinity, Infinity) : windows.steps;
  }

  // ---- calls

  hostStarted(host: Host, step: Step | null, records: Records, row: i32, at: f64): void {
    if (step !== null) setTransfer(host, step);
    if (!isDrawn(host)) return;
    keepSlots(host, records, row);
    this.threads.started(host, false, this.now(at));
  }

  groupEndStarted(host: Host, at: f64): void {
    this.threads.started(host, true, this.now(at));
  }

  hostStopped(host: Host, at: f64): void {
    if (!isDrawn(host)) return;
    const now = this.now(at);
    if (!isNaN(host.ending)) this.threads.stopped(host, true, now);
    this.threads.stopped(host, false, now);
  }

  // ---- works

  workStarted(work: Work, _call: Host | null, records: Records, row: i32, at: f64): void {
    if (!work.comm.isLeftOut) this.works.start(work, records, row, this.now(at));
  }

  workEnqueued(work: Work, at: f64): void {
    if (!work.comm.isLeftOut) this.works.enqueued(work, this.now(at));
  }

  // ---- operations

  opMade(op: Op): void {
    const comm: Comm | null = op.isForeign ? this.origins.commOf(op) : null;
    if (comm !== null) op.comm = comm;
    // Where NCCL never reports ends, it says isSend 0 in both directions.
    if (op.mayBeOtherDirection && this.origins.neverEnds(op)) op.link = Link.Known;
  }

  /** A stand-in begins with its first step. */
  opStarted(op: Op, at: f64): void {
    if (op.comm.isLeftOut) return;
    this.ops.started(op, op.isLost ? this.clock.time(at) : this.now(at));
    this.blocks.opStarted(op);
  }

  opAlive(op: Op): void {
    if (!op.comm.isLeftOut) this.ops.alive(op);
  }

  opBytes(op: Op, bytes: f64, at: f64): void {
    if (!op.comm.isLeftOut) this.bytes.moved(op, op.isSend, bytes, this.now(at));
  }

  /** The steps of all rings are known up to here. */
  opStopped(op: Op, at: f64): void {
    if (op.comm.isLeftOut) return;
    this.ops.stopped(op, this.now(at));
    this.changes.settle();
    this.blocks.opStopped(op);
  }

  // ---- steps

  /** If the start of a step is not drawn, only its bytes count. */
  stepStarted(step: Step, at: f64): void {
    const window = this.stepWindow;
    if (step.op.comm.isLeftOut || window === null) return;
    const time = this.clock.time(at);
    if (time <= window.to) this.steps.started(step, time);
  }

  stepEntered(step: Step, _before: Phase, at: f64): void {
    if (!step.op.comm.isLeftOut) this.steps.entered(step, at);
  }

  stepStopped(step: Step, byItself: bool, at: f64): void {
    if (!step.op.comm.isLeftOut) this.steps.stopped(step, this.clock.time(at), byItself);
  }

  // ---- blocks and proxy threads

  blockStarted(block: Block, records: Records, row: i32, _at: f64): void {
    if (block.comm.isLeftOut) return;
    if (block.isPhase) {
      const texts = this.sink.texts;
      const name = texts.ofFile(records.more32(row, 1, 1, 0) & 0xffff);
      block.phase =
        name.length > 0 ? name : texts.of('phase ' + ((records.detail(row) >> 8) & 0xff).toString());
    }
    this.blocks.started(block);
  }

  blockStopped(block: Block, _at: f64): void {
    if (!block.comm.isLeftOut) this.blocks.stopped(block);
  }

  ctrl(ring: i32, state: i32, at: f64): void {
    this.proxyThreads.state(ring, state, this.clock.time(at));
  }

  /** After the last record, and after the polls that were going on. `recorder`: the group of odd records. */
  finish(steps: Step[], odd: OddCounts, recorder: Track): void {
    this.dueEnds.flush(Infinity);
    this.steps.finish(steps);
    this.changes.settle();
    this.blocks.finish();
    this.bytes.finish();
    this.inFlight.finish();
    if (!isNaN(this.knownUntil)) this.proxyThreads.finish(this.clock.time(this.knownUntil));
    drawOddRecords(this.sink, this.clock, odd, recorder);
  }

  /** Records of a ring shared by several threads may be slightly out of order. Their time does not go back. */
  private now(at: f64): f64 {
    const time = this.clock.time(at);
    if (time < this.newest) this.reordered += 1;
    else this.newest = time;
    this.dueEnds.flush(this.newest);
    return this.newest;
  }
}

/** NCCL gives a group the context of its first call, whatever communicators it spans. */
function isDrawn(host: Host): bool {
  return host.kind == HostKind.GroupApi || !commOf(host).isLeftOut;
}

function setTransfer(host: Host, step: Step): void {
  const op = step.op;
  host.hasTransfer = true;
  host.transferStep = step.number;
  host.transferComm = op.comm;
  host.transferChannel = op.channel;
  host.transferPeer = op.peer;
  host.transferIsSend = op.isSend;
  host.transferIsLost = op.isLost;
}

/** The record's memory is used again. */
function keepSlots(host: Host, records: Records, row: i32): void {
  const bytes = <usize>HOST_SLOTS * SLOT_BYTES;
  if (host.slots == 0) host.slots = heap.alloc(bytes);
  const used = <usize>min(<i32>records.parts[row], HOST_SLOTS) * SLOT_BYTES;
  memory.copy(host.slots, records.slot[row], used);
  memory.fill(host.slots + used, 0, bytes - used);
}
