/**
 * Pairs the records of one file: every start, state and stop becomes part of a row. A listener (listener.ts) is told in the order of ticks.
 * One streaming pass keeps only open events and recent parents. The scan and the drawing both run this.
 */

import {
  Block,
  Ctrl,
  Event,
  Host,
  HostKind,
  keyOf,
  keyOfHandle,
  Link,
  Op,
  Phase,
  positionOf,
  ringOf,
  Step,
  Type,
  Work,
} from './event';
import { EventTable } from './event_table';
import { file } from './file';
import { makeBlock, makeHost, makeOp, makeWork, stopStamp } from './make';
import { Listener } from './listener';
import { FOLD_OF_START, Kind, MAX_RINGS, NO_VALUE, State } from './numbers';
import { Name, nameOf, OddCounts, What } from './odd';
import { countBlockStart, countBlockStop, countOpStart, countOpStop } from './parents';
import { exact, OpenFold, Records, ticksFrom } from './record';
import { takeOp } from './rows';
import { StampOwners } from './stamp_owners';
import { Found, StepHandles } from './step_handles';

/** ProxyCtrl events per thread that a fold may still refer to. */
const RECENT_CTRL: i32 = 64;

export class Pairing {
  readonly steps: StepHandles = new StepHandles();
  readonly odd: OddCounts = new OddCounts();
  private readonly stampOwners: StampOwners = new StampOwners();
  private readonly ctrls: StaticArray<Ctrl | null> = new StaticArray<Ctrl | null>(MAX_RINGS + 1);
  private readonly recentCtrl: StaticArray<i64[] | null> = new StaticArray<i64[] | null>(MAX_RINGS + 1);
  /** By ring: position of its first record. A reference to an earlier position means an overwritten record. */
  private readonly windowStart: StaticArray<f64> = new StaticArray<f64>(MAX_RINGS + 1);
  /** By ring: the newest tick. A record with an earlier tick gets this one. */
  private readonly newest: StaticArray<f64> = new StaticArray<f64>(MAX_RINGS + 1);
  private readonly tag17: u32 = file().tag17;
  private works: i32 = 0;
  private apiRows: i32 = 0;
  private standIns: i32 = 0;
  /** Records with an earlier tick than the record before them in the ring. */
  reordered: f64 = 0;
  /** Tick of the record that is read. */
  private now: f64 = 0;

  constructor(
    private readonly listener: Listener,
    private readonly events: EventTable,
  ) {}

  /** A ring of the file. */
  addRing(ring: i32): void {
    this.windowStart[ring] = Infinity;
  }

  /** Rows [from, end) of a ring's segment. */
  read(ring: i32, records: Records, from: i32, end: i32): void {
    if (unchecked(this.windowStart[ring]) == Infinity) this.windowStart[ring] = records.position[from];
    let newest = unchecked(this.newest[ring]);
    for (let row = from; row < end; row++) {
      const tick = records.tickAt(row);
      if (tick >= newest) newest = tick;
      else this.reordered += 1;
      this.now = newest;
      this.record(ring, records, row);
    }
    unchecked((this.newest[ring] = newest));
  }

  private record(ring: i32, records: Records, row: i32): void {
    const kind: i32 = unchecked(records.kind[row]);
    if (kind == Kind.StartProxyStep) {
      this.stepStart(ring, records, row);
      return;
    }
    if (kind != Kind.State && kind != Kind.Stop && kind != Kind.Fold) {
      this.other(ring, records, row, kind);
      return;
    }
    const handle = records.word1(row);
    switch (this.steps.find(handle)) {
      case Found.NoStep:
        this.other(ring, records, row, kind);
        break;
      case Found.EndedStep:
        if (kind == Kind.State) this.odd.lateState(Name.ProxyStep, stateOf(records, row), this.now);
        else if (kind == Kind.Stop) this.odd.lateStop(Name.ProxyStep, this.now);
        break;
      default: {
        const step = this.steps.found!;
        if (kind == Kind.State) this.stepState(step, records, row);
        else if (kind == Kind.Stop) {
          this.steps.forget(handle);
          this.stepStop(step, true);
        } else addRepeats(step, records.comm(row), records.moreNumber(row, 1, 1), foldTick(records, row));
      }
    }
  }

  // ---- steps

  private stepStart(ring: i32, records: Records, row: i32): void {
    const op = this.opOf(ring, records, row);
    const number = <i32>records.detail(row);
    const handle = this.handleOf(ring, records.position[row]);
    const same = this.steps.openStepOf(op, number);
    if (same !== null) {
      // A repeated start of a registered buffer that was not folded: both handles mean the same transfer.
      same.startRepeats += 1;
      same.lastStartRepeat = this.now;
      this.steps.name(handle, same);
      return;
    }
    const step = this.steps.add(handle, op, number, this.now);
    op.openSteps.push(step);
    op.lastMove = this.now;
    this.listener.stepStarted(step, this.now);
  }

  private handleOf(ring: i32, position: f64): u64 {
    return ((<u64>this.tag17) << 47) | ((<u64>ring) << 41) | (((<u64>position) & 0xff_ffff_ffff) << 1);
  }

  /** The operation that a step names as its parent, or its stand-in. */
  private opOf(ring: i32, records: Records, row: i32): Op {
    const parent = keyOfHandle(records.word1(row), this.tag17);
    const known = this.events.get(parent);
    if (known !== null && known.type == Type.Op) {
      const op = changetype<Op>(known);
      if (!op.isAlive) this.showLife(op);
      return op;
    }
    const op = takeOp(file().commOf(records.comm(row)));
    op.isLost = true;
    op.ring = ring;
    op.link = Link.Lost;
    op.start = op.lastMove = this.now;
    // One stand-in serves all steps of an operation whose start was overwritten.
    if (known === null) {
      op.standIn = this.standIns++;
      op.key = parent;
      this.events.set(parent, op);
      this.listener.opStarted(op, this.now);
    }
    this.showLife(op);
    return op;
  }

  private stepState(step: Step, records: Records, row: i32): void {
    const state = stateOf(records, row);
    const phase = phaseOf(state);
    const before = step.phase;
    if (phase == Phase.PeerWait && before <= Phase.PeerWait) {
      step.polls += 1;
      step.lastPoll = this.now;
      if (before == Phase.PeerWait) return;
    }
    if (phase > before) this.enter(step, phase, records, row);
    else if (phase == Phase.Posted) this.odd.unknownState(Name.ProxyStep, state, this.now);
    else this.odd.stateAgain(Name.ProxyStep, state, this.now);
  }

  private enter(step: Step, phase: Phase, records: Records, row: i32): void {
    const at = this.now;
    const op = step.op;
    let from = at;
    if (phase == Phase.SendWait || phase == Phase.FlushWait) {
      const value = valueOf(records, row);
      step.bytes = value;
      if (!isNaN(value)) op.bytes = min<f64>(op.bytes + value, <f64>f64.MAX_SAFE_INTEGER);
      if (phase == Phase.FlushWait) {
        step.arrived = at;
        if (isNaN(op.firstData)) op.firstData = at;
        op.lastData = at;
      } else if (!isNaN(step.lastPoll)) {
        // The send itself begins at the *last* poll before NCCL reports state 9. State 9 is stamped after isend returned, when the data
        // may have arrived already (measured: a preempted proxy thread stamps it after the receiver's state 11).
        from = step.lastPoll;
      }
    }
    const before = step.phase;
    step.phaseSince = from;
    step.phase = phase;
    op.lastMove = at;
    if (op.isSend && phase > Phase.SendGpuWait) {
      if (isNaN(op.gpuBegan)) op.gpuBegan = at;
      if (isNaN(step.filled)) step.filled = at;
    }
    this.listener.stepEntered(step, before, at);
  }

  /** The step is over as of now: NCCL stopped it, or its operation. */
  private stepStop(step: Step, byItself: bool): void {
    const at = this.now;
    const op = step.op;
    op.stepsDone++;
    op.lastMove = at;
    if (!op.isSend && isNaN(op.gpuBegan)) op.gpuBegan = at;
    const passed = op.isSend ? step.filled : step.arrived;
    if (!isNaN(passed)) {
      op.passedSteps++;
      op.passedAfter += passed - op.start;
      op.onWire += at - passed;
    }
    if (!isNaN(step.filled)) op.noRoom = max(op.noRoom, at - step.filled);
    if (step.phase == Phase.RecvGpuWait && !(at - step.phaseSince <= op.heldTo - op.heldFrom)) {
      op.heldFrom = step.phaseSince;
      op.heldTo = at;
    }
    this.listener.stepStopped(step, byItself, at);
    this.steps.end(step);
  }

  /** Repeats that were still going on at the file's last write. Returns the newest of known steps; NaN: none. */
  openFolds(folds: OpenFold[]): f64 {
    let newest: f64 = NaN;
    for (let i = 0; i < folds.length; i++) {
      const fold = folds[i];
      if (fold.isRecorded || this.steps.find(fold.handle) != Found.Step) continue;
      addRepeats(this.steps.found!, fold.state, fold.count, fold.lastTick);
      if (!(newest >= fold.lastTick)) newest = fold.lastTick;
    }
    return newest;
  }

  // ---- all other events

  /** A record that belongs to no step in flight. Its time is its own tick. */
  private other(ring: i32, records: Records, row: i32, kind: i32): void {
    const at = records.tickAt(row);
    if (kind == Kind.State) this.state(records, row, at);
    else if (kind == Kind.Stop) this.stop(records, row, at);
    else if (kind == Kind.Fold) this.fold(records, row, at);
    else if (kind >= Kind.StartGroup && kind <= Kind.StartUnknown) this.start(ring, kind, records, row, at);
    else this.odd.unknownKind(kind, at);
  }

  private start(ring: i32, kind: i32, records: Records, row: i32, at: f64): void {
    const parentKey = keyOfHandle(records.word1(row), this.tag17);
    const parent = this.events.get(parentKey);
    // Only the events of plugins name steps as their parents.
    const step = parent === null && parentKey >= 0 ? this.stepNamed(records.word1(row)) : null;
    const isKnown = parent !== null || step !== null;
    const key = keyOf(ring, records.position[row]);
    switch (kind) {
      case Kind.StartProxyOp: {
        const op = makeOp(records, row, parent, parentKey, isKnown, at);
        this.add(op, ring, key);
        this.listener.opMade(op);
        this.checkStart(op, op.link, op.isForeign ? NaN : op.comm.finalized, at);
        countOpStart(op);
        this.listener.opStarted(op, at);
        break;
      }
      case Kind.StartKernelCh:
      case Kind.StartKernelPhase: {
        const block = makeBlock(records, row, kind == Kind.StartKernelPhase, parent, parentKey, isKnown, at);
        this.add(block, ring, key);
        this.checkStart(block, block.link, block.comm.finalized, at);
        countBlockStart(block);
        this.stampOwners.judge(block, at);
        this.listener.blockStarted(block, records, row, at);
        break;
      }
      case Kind.StartColl:
      case Kind.StartP2p: {
        const work = new Work(Type.Work, file().commOf(records.comm(row)));
        const call = makeWork(work, records, row, kind == Kind.StartColl, parent, parentKey, isKnown, at);
        work.row = this.works++;
        this.add(work, ring, key);
        this.checkStart(work, work.link, work.comm.finalized, at);
        this.listener.workStarted(work, call, records, row, at);
        break;
      }
      case Kind.StartProxyCtrl: {
        this.add(this.ctrlOf(ring), ring, key);
        this.forgetOldCtrl(ring, key);
        break;
      }
      default: {
        const host = makeHost(records, row, kind, parent, at);
        if (host.isApi) host.apiRow = this.apiRows++;
        this.add(host, ring, key);
        this.checkHost(host, kind, records, row, at);
        this.listener.hostStarted(host, host.kind == HostKind.NetPlugin ? step : null, records, row, at);
      }
    }
  }

  private add(event: Event, ring: i32, key: i64): void {
    event.ring = ring;
    event.key = key;
    this.events.set(key, event);
  }

  private stepNamed(handle: u64): Step | null {
    return this.steps.find(handle) == Found.Step ? this.steps.found : null;
  }

  /** What is odd about an event that starts. The event counts as usual. `finalized`: of its communicator. */
  private checkStart(event: Event, link: Link, finalized: f64, at: f64): void {
    if (link == Link.Stale) this.odd.staleParent(nameOf(event), at);
    if (link == Link.Again) this.odd.startAgain(nameOf(event), at);
    if (at > finalized) this.odd.late(nameOf(event), at);
  }

  private checkHost(host: Host, kind: i32, records: Records, row: i32, at: f64): void {
    if (at > host.comm.finalized) this.odd.late(nameOf(host), at);
    if (host.kind == HostKind.Unknown) {
      host.eventType = kind == Kind.StartUnknown ? u64(records.moreNumber(row, 1, 0)) : eventTypeOf(kind);
      this.odd.addUnknown(What.EventType, Name.Unknown, host.eventType);
    }
    if (host.kind == HostKind.NetPlugin) {
      const id = records.more(row, 1, 0);
      if (id != NET_INFINIBAND && id != NET_SOCKET) this.odd.addUnknown(What.NetPlugin, Name.NetPlugin, id);
    }
  }

  private showLife(op: Op): void {
    if (op.isAlive) return;
    op.isAlive = true;
    if (!op.isLost) this.listener.opAlive(op);
  }

  /** All ProxyCtrl events of a thread are one, because they have nothing of their own. */
  private ctrlOf(ring: i32): Ctrl {
    const known = this.ctrls[ring];
    if (known !== null) return known;
    const made = new Ctrl(Type.Ctrl, file().unknownComm);
    this.ctrls[ring] = made;
    return made;
  }

  /** The recorder folds quick idle/active changes into earlier events, so a thread's newest events stay known. */
  private forgetOldCtrl(ring: i32, key: i64): void {
    let recent = this.recentCtrl[ring];
    if (recent === null) this.recentCtrl[ring] = recent = [];
    recent.push(key);
    if (recent.length > RECENT_CTRL) this.events.delete(recent.shift());
  }

  private state(records: Records, row: i32, at: f64): void {
    const event = this.find(records, row, at);
    if (event === null) return;
    const state = stateOf(records, row);
    switch (event.type) {
      case Type.Block:
        this.blockState(changetype<Block>(event), state, records, row, at);
        break;
      case Type.Op: {
        const op = changetype<Op>(event);
        if (op.hasStopped) this.odd.lateState(Name.ProxyOp, state, at);
        else {
          this.showLife(op);
          this.opState(op, state, valueOf(records, row), at);
        }
        break;
      }
      case Type.Ctrl:
        this.ctrlState(event.ring, state, at);
        break;
      case Type.Host: {
        const host = changetype<Host>(event);
        if (host.hasStopped) this.odd.lateState(nameOf(host), state, at);
        else this.hostState(host, state, at);
        break;
      }
      default:
        this.odd.unknownState(nameOf(event), state, at);
    }
  }

  /** A kernel's one state carries the GPU's stop stamp. NCCL may report a completion under the previous kernel's name. */
  private blockState(block: Block, state: i32, records: Records, row: i32, at: f64): void {
    const stop = block.isPhase ? State.KernelPhaseStop : State.KernelChStop;
    if (state != stop) this.odd.unknownState(nameOf(block), state, at);
    else if (isNaN(block.stop)) block.timerStop = stopStamp(records, row);
    else {
      block.strayCompletions++;
      this.odd.kernelWithoutStart(block.channel, at);
    }
  }

  /** Up to NCCL 2.26 operations have states of their own, and report the bytes so far (states 0 to 7). */
  private opState(op: Op, state: i32, value: f64, at: f64): void {
    const isProgress = state >= 0 && state <= State.OpRecvDone;
    if (state != State.OpInProgress && !isProgress) {
      this.odd.unknownState(Name.ProxyOp, state, at);
      return;
    }
    if (state == State.OpSendRemFifoWait) {
      // The GPU may have filled the data while the receiver has no room. Up to NCCL 2.26 no state of the step reports this.
      if (isNaN(op.roomWanted)) op.roomWanted = at;
      if (!(op.gpuBegan <= at)) op.gpuBegan = at;
    } else if (state == State.OpSendTransmitted) op.roomWanted = NaN;
    if (!isProgress || !(value > op.bytes)) return;
    const more = value - op.bytes;
    op.bytes = value;
    this.listener.opBytes(op, more, at);
  }

  private ctrlState(ring: i32, state: i32, at: f64): void {
    if (state < State.CtrlIdle || state > State.CtrlAppendEnd)
      this.odd.unknownState(Name.ProxyCtrl, state, at);
    this.listener.ctrl(ring, state, at);
  }

  private hostState(host: Host, state: i32, at: f64): void {
    if (!isHostState(host.kind, state)) this.odd.unknownState(nameOf(host), state, at);
    if (host.kind != HostKind.GroupApi || state != State.GroupEndApiStart) return;
    if (!isNaN(host.ending)) {
      this.odd.stateAgain(nameOf(host), state, at);
      return;
    }
    host.ending = at;
    this.listener.groupEndStarted(host, at);
  }

  private stop(records: Records, row: i32, at: f64): void {
    const event = this.find(records, row, at);
    if (event === null) return;
    switch (event.type) {
      case Type.Host: {
        const host = changetype<Host>(event);
        if (!host.hasStopped) {
          host.stop = at;
          this.listener.hostStopped(host, at);
        } else if (host.kind == HostKind.NetPlugin) this.odd.netStopsAgain += 1;
        else this.odd.lateStop(nameOf(host), at);
        break;
      }
      case Type.Work: {
        const work = changetype<Work>(event);
        if (!isNaN(work.enqueued)) this.odd.lateStop(nameOf(work), at);
        else {
          work.enqueued = at;
          this.listener.workEnqueued(work, at);
        }
        break;
      }
      case Type.Op: {
        const op = changetype<Op>(event);
        if (op.hasStopped) this.odd.lateStop(Name.ProxyOp, at);
        else this.opStop(op, at);
        break;
      }
      case Type.Block: {
        const block = changetype<Block>(event);
        if (isNaN(block.stop)) {
          block.stop = at;
          countBlockStop(block);
          this.listener.blockStopped(block, at);
        } else if (block.strayCompletions > 0) block.strayCompletions--;
        else this.odd.lateStop(nameOf(block), at);
        break;
      }
      default:
        // The states of a ProxyCtrl event are all it has.
        break;
    }
  }

  /** All steps of an operation stop before it does, but NCCL 2.24 to 2.26 may lose the stops of receives. */
  private opStop(op: Op, at: f64): void {
    this.showLife(op);
    const now = this.now;
    this.now = at;
    while (op.openSteps.length > 0) {
      this.odd.stepsWithoutStop += 1;
      this.stepStop(op.openSteps[op.openSteps.length - 1], false);
    }
    this.now = now;
    op.stop = at;
    countOpStop(op);
    this.listener.opStopped(op, at);
  }

  private fold(records: Records, row: i32, at: f64): void {
    const event = this.find(records, row, at);
    if (event === null || event.type != Type.Ctrl) return;
    const state = records.comm(row);
    if (state != FOLD_OF_START) this.ctrlState(event.ring, <i32>state, foldTick(records, row));
  }

  /** The event of a state, stop or fold. Records without an event are counted by cause. */
  private find(records: Records, row: i32, at: f64): Event | null {
    const key = keyOfHandle(records.word1(row), this.tag17);
    const event: Event | null = key < 0 ? null : this.events.get(key);
    if (event !== null) return event;
    if (key < 0) this.odd.ofAnother(records.word1(row), at);
    else if (positionOf(key) < this.windowStart[ringOf(key)]) this.odd.beganBefore += 1;
    else this.odd.noSuchEvent(records.word1(row), at);
    return null;
  }
}

/** Version 1 of the ids of NCCL's own network plugins. */
const NET_INFINIBAND: u64 = 0x10001;
const NET_SOCKET: u64 = 0x20001;

/** A kind of a number that this version does not know has the event type of this bit. */
function eventTypeOf(kind: i32): u64 {
  const bit: u64 = kind - Kind.StartGroup;
  return u64(1) << bit;
}

function phaseOf(state: i32): Phase {
  switch (state) {
    case State.SendGpuWait:
      return Phase.SendGpuWait;
    case State.SendPeerWait:
      return Phase.PeerWait;
    case State.SendWait:
      return Phase.SendWait;
    case State.RecvWait:
      return Phase.RecvWait;
    case State.RecvFlushWait:
      return Phase.FlushWait;
    case State.RecvGpuWait:
      return Phase.RecvGpuWait;
    default:
      return Phase.Posted;
  }
}

function stateOf(records: Records, row: i32): i32 {
  return <i32>(records.isLong(row) ? records.comm(row) : records.comm(row) & 0xffff);
}

/** The value of a State record; NaN: NCCL gave none. */
function valueOf(records: Records, row: i32): f64 {
  const value = records.isLong(row) ? records.more(row, 1, 0) : records.word2(row) >> 16;
  return value == NO_VALUE ? NaN : exact(value);
}

/** Polls or starts that the recorder counted instead of recording. */
function addRepeats(step: Step, state: u32, count: f64, lastTick: f64): void {
  if (state == FOLD_OF_START) {
    step.startRepeats += count;
    step.lastStartRepeat = lastTick;
  }
  if (state != <u32>State.SendPeerWait) return;
  step.polls += count;
  if (!(step.lastPoll >= lastTick)) step.lastPoll = lastTick;
}

function foldTick(records: Records, row: i32): f64 {
  return max<f64>(0, ticksFrom(records.more(row, 1, 0)));
}

/**
 * The states that add nothing to spans of the host. 23 follows the start at once, and 24 begins the group's end. 25 to 30 begin and end events
 * that have a start and a stop of their own.
 */
function isHostState(kind: HostKind, state: i32): bool {
  switch (kind) {
    case HostKind.GroupApi:
      return state == State.GroupStartApiStop || state == State.GroupEndApiStart;
    case HostKind.CeColl:
    case HostKind.CeSync:
    case HostKind.CeBatch:
      return state >= State.CeCollStart && state <= State.CeBatchComplete;
    case HostKind.NetPlugin:
      return state == State.NetPluginUpdate;
    default:
      return false;
  }
}
