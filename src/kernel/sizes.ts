/**
 * Counts how large a file's trace would be: the things to draw, their starts, and the tracks, for each communicator. There each thing is one
 * slice, or an instant for operations whose end NCCL never reports. Operations lie in lanes as in the trace: the lowest free one, per
 * channel, direction and peer. Operations that began their work at the same time have step slots of their own, as many as the largest
 * operation needs.
 */

import { lowHalf } from './bits';
import { DEEPEST_QUEUE, EndlessOps, mayBeEndless, User, userOf } from './endless';
import { Block, Host, HostKind, Op } from './event';
import { Comm } from './file';
import { LaneNumbers } from './lanes';
import { NCCL_STEPS } from './step_handles';
import { TimeCounter } from './time_counter';

/** The kinds of things that are drawn, as src/scan/drawn_size.ts numbers them. */
export const enum Drawn {
  Call,
  Work,
  Op,
  Block,
  Ctrl,
  Step,
  Phase,
  Net,
}
export const DRAWN_KINDS: i32 = 8;

/** Further lanes are not counted. This bounds memory. */
const MOST_LANES: i32 = 1024;

/** One channel, direction and peer. */
class Lanes {
  /** Stand-ins. Their ends are known only after the last record. */
  readonly standIns: Op[] = [];
  /** All other operations, each in the lowest free lane, as in the trace. */
  readonly lanes: LaneNumbers = new LaneNumbers();
  inLanes: i32 = 0;
  readonly slotSets: LaneNumbers = new LaneNumbers();
  /** By set: step slots of its largest operation. */
  readonly slots: i32[] = [];
}

/** A connection on which nothing has moved so far. If it stays endless, its operations are instants on one track. */
export class QuietConnection {
  hasMoved: bool = false;
  /** Known after the last record. */
  isEndless: bool = false;
  readonly waiting: Op[] = [];
  readonly starts: TimeCounter = new TimeCounter();

  constructor(
    readonly comm: i32,
    readonly channel: i32,
    readonly peer: i32,
    readonly user: User,
  ) {}
}

/** One communicator, or what belongs to none. */
export class CommSize {
  readonly counters: StaticArray<TimeCounter> = new StaticArray<TimeCounter>(DRAWN_KINDS);
  /** Rings of proxy threads, of threads that call, and of those that drive a network plugin. As bits. */
  proxyRings: u64 = 0;
  callRings: u64 = 0;
  netRings: u64 = 0;
  readonly quiet: QuietConnection[] = [];
  /** Counted by `finish`: lanes of blocks and of operations, and step slots. */
  opTracks: i32 = 0;
  stepTracks: i32 = 0;

  private readonly connections: Map<u64, Lanes> = new Map<u64, Lanes>();
  private readonly quietPlaces: Map<u64, QuietConnection> = new Map<u64, QuietConnection>();
  /** By channel, and whether they are phases. */
  private readonly blocks: StaticArray<LaneNumbers | null> = new StaticArray<LaneNumbers | null>(512);

  constructor(readonly comm: Comm | null) {
    for (let kind = 0; kind < DRAWN_KINDS; kind++) this.counters[kind] = new TimeCounter();
  }

  @inline
  add(kind: Drawn, at: f64): void {
    unchecked(this.counters[kind]).add(at);
  }

  blockStart(block: Block, at: f64): void {
    this.add(Drawn.Block, at);
    const channel = channelOf(block);
    if (this.blocks[channel] === null) this.blocks[channel] = new LaneNumbers();
  }

  /**
   * Blocks are counted as they are drawn: by the GPU's stamps, in the first lane whose last block ended before. Blocks without stamps hardly
   * overlap.
   */
  blockStop(block: Block): void {
    const timerStart = block.timerStart;
    const timerStop = block.timerStop;
    const lanes = this.blocks[channelOf(block)];
    if (lanes === null || isNaN(timerStart) || isNaN(timerStop)) return;
    lanes.release(lanes.acquire(timerStart), timerStop);
  }

  opStart(op: Op, at: f64): void {
    if (op.isLost) this.connectionOf(op).standIns.push(op);
    else if (!this.isQuiet(op, at)) this.takeLane(op);
  }

  opAlive(op: Op): void {
    if (mayBeEndless(op)) this.moved(op);
    if (op.lane >= 0) op.slotSet = this.connectionOf(op).slotSets.acquire();
  }

  opStop(op: Op): void {
    const lane = op.lane;
    const slotSet = op.slotSet;
    if (lane < 0) return;
    const connection = this.connectionOf(op);
    op.lane = -1;
    connection.inLanes--;
    connection.lanes.release(lane);
    if (slotSet < 0) return;
    connection.slotSets.release(slotSet);
    const slots = connection.slots;
    while (slots.length <= slotSet) slots.push(0);
    slots[slotSet] = max(slots[slotSet], slotsOf(op));
  }

  /** Call it after `opStop` was called for all open operations. */
  finish(endless: EndlessOps): void {
    for (let i = 0; i < this.quiet.length; i++) {
      const one = this.quiet[i];
      if (one.hasMoved) continue;
      one.isEndless = endless.isEndless(one.comm, one.channel, one.peer, one.user);
      if (one.isEndless) continue;
      for (let n = 0; n < one.waiting.length; n++) this.takeLane(one.waiting[n]);
    }
    let lanes = 0;
    let slots = 0;
    for (let channel = 0; channel < this.blocks.length; channel++) {
      const blocks = this.blocks[channel];
      if (blocks !== null) lanes += max(1, blocks.made);
    }
    const connections = this.connections.values();
    for (let i = 0; i < connections.length; i++) {
      const one = connections[i];
      const standIns = slotsOfStandIns(one.standIns);
      lanes += one.lanes.made + standIns.length;
      for (let n = 0; n < standIns.length; n++) slots += standIns[n];
      for (let n = 0; n < one.slots.length; n++) slots += one.slots[n];
    }
    this.opTracks = lanes;
    this.stepTracks = slots;
  }

  private takeLane(op: Op): void {
    const connection = this.connectionOf(op);
    if (connection.inLanes >= MOST_LANES) return;
    connection.inLanes++;
    op.lane = connection.lanes.acquire();
  }

  private connectionOf(op: Op): Lanes {
    const channel = op.channel;
    const isSend = op.isSend;
    const peer = op.peer;
    const isLost = op.isLost;
    const key =
      ((lowHalf(peer) & 0x3fffff) << 10) |
      ((<u64>(channel & 0xff)) << 2) |
      (isSend ? 2 : 0) |
      (isLost ? 1 : 0);
    if (this.connections.has(key)) return this.connections.get(key);
    const made = new Lanes();
    this.connections.set(key, made);
    return made;
  }

  /** Whether its connection is quiet. If not, the operation is in a lane. */
  private isQuiet(op: Op, at: f64): bool {
    if (!mayBeEndless(op)) return false;
    const key = quietKey(op);
    let quiet: QuietConnection;
    if (this.quietPlaces.has(key)) {
      quiet = this.quietPlaces.get(key);
      if (quiet.hasMoved) return false;
    } else {
      quiet = new QuietConnection(op.comm.number, op.channel, op.peer, userOf(op));
      this.quietPlaces.set(key, quiet);
      this.quiet.push(quiet);
    }
    quiet.starts.add(at);
    if (quiet.waiting.length < DEEPEST_QUEUE) quiet.waiting.push(op);
    return true;
  }

  /** The connection has moved: its operations are in lanes now, oldest first. */
  private moved(op: Op): void {
    const key = quietKey(op);
    if (!this.quietPlaces.has(key)) return;
    const quiet = this.quietPlaces.get(key);
    if (quiet.hasMoved) return;
    quiet.hasMoved = true;
    for (let i = 0; i < quiet.waiting.length; i++) this.takeLane(quiet.waiting[i]);
    quiet.waiting.length = 0;
  }
}

function quietKey(op: Op): u64 {
  return ((lowHalf(op.peer) & 0x3fffff) << 10) | ((<u64>(op.channel & 0xff)) << 2) | (<u64>userOf(op));
}

function channelOf(block: Block): i32 {
  const channel = block.channel;
  const isPhase = block.isPhase;
  return channel * 2 + (isPhase ? 1 : 0);
}

/** Slots for the steps in the file. */
function slotsOf(op: Op): i32 {
  const stepsDone = op.stepsDone;
  const openSteps = op.openSteps;
  return min(stepsDone + openSteps.length, NCCL_STEPS);
}

/** By lane. A stand-in was last seen in flight when its last step ended; if a step is in flight, it has not ended. */
function slotsOfStandIns(standIns: Op[]): i32[] {
  const lanes = new LaneNumbers();
  const slots: i32[] = [];
  const sorted = standIns.slice(0).sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  for (let i = 0; i < sorted.length; i++) {
    const op = sorted[i];
    const lane = lanes.acquire(op.start);
    lanes.release(lane, op.hasStopped ? op.stop : op.openSteps.length > 0 ? Infinity : op.lastMove);
    while (slots.length <= lane) slots.push(0);
    slots[lane] = max(slots[lane], slotsOf(op));
  }
  return slots;
}

export class Sizes {
  /** In the order of their first event. */
  readonly comms: CommSize[] = [];
  readonly free: CommSize = new CommSize(null);
  /** Rings with calls and collectives: the only ones that the detail 'coll' reads. As bits. */
  callRings: u64 = 0;

  @inline
  of(comm: Comm): CommSize {
    return comm.place >= 0 ? unchecked(this.comms[comm.place]) : this.make(comm);
  }

  /** `transfer`: of a network plugin's event. The context of a transfer may belong to another process, so its operation decides. */
  call(host: Host, transfer: Op | null, at: f64): void {
    const size =
      host.kind == HostKind.GroupApi ? this.free : this.of(transfer === null ? host.comm : transfer.comm);
    this.callIn(size, host, at);
  }

  /** NCCL gives a group the context of its first call, whatever communicators it spans. */
  groupEnd(host: Host, at: f64): void {
    this.callIn(this.free, host, at);
  }

  ctrl(ring: i32, at: f64): void {
    this.free.add(Drawn.Ctrl, at);
    this.free.proxyRings |= (<u64>1) << ring;
  }

  /** `open`: operations that have not stopped. */
  finish(open: Op[], endless: EndlessOps): void {
    for (let i = 0; i < open.length; i++) this.of(open[i].comm).opStop(open[i]);
    this.free.finish(endless);
    for (let i = 0; i < this.comms.length; i++) this.comms[i].finish(endless);
  }

  private callIn(size: CommSize, host: Host, at: f64): void {
    const ring = (<u64>1) << host.ring;
    if (host.isWatched) {
      size.add(Drawn.Net, at);
      size.netRings |= ring;
    } else {
      size.add(Drawn.Call, at);
      size.callRings |= ring;
      this.callRings |= ring;
    }
  }

  private make(comm: Comm): CommSize {
    comm.place = this.comms.length;
    const made = new CommSize(comm);
    this.comms.push(made);
    return made;
  }
}
