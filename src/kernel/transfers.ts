/**
 * Totals of one file's network transfers: per connection its bytes, its transfers' waits, and their times by size. They grow with
 * connections and sizes, not with the run. A send's time on the wire is from its last poll of state 20 to its stop. A receive has no
 * such time, because its wait begins when it is posted and not when the peer sends.
 */

import { lowHalf } from './bits';
import { Op, Phase, Step } from './event';
import { Comm } from './comm';
import { file } from './file';
import { TimeCounter } from './time_counter';
import { CallTotalsRow, ConnectionTotalsRow } from './result_rows';
import { BINS, EndTotals, SizeTotals, TIME_BINS } from './transfer_totals';
import { Wire } from './wire';

/** What a transfer waited for: the order of a row's waits, and of src/scan/transfer_totals.ts (WAITS). */
const enum Waited {
  Gpu,
  Peer,
  Send,
  Recv,
  Flush,
  /** Posted is no wait. */
  None,
}
const WAITS: i32 = Waited.None;
/** Sizes per connection. Transfers of further sizes count, but have no times. */
const MOST_SIZES: i32 = 64;
/** As many of these sizes have their times in bins: four per power of two, so a quantile is known within 20 % at any length. */
const MOST_BINNED: i32 = 16;
const PER_OCTAVE: f64 = 4;
export class Transfers {
  /** In the order of their first transfer. */
  readonly ends: EndTotals[] = [];
  readonly calls: CallTotalsRow[] = [];
  /** Bytes of the sends that ended from this tick on. */
  since: f64 = -Infinity;
  sent: f64 = 0;
  /** Transfers that ended, and what they waited for, by the time of their end. */
  readonly ended: TimeCounter = new TimeCounter(BINS, 1 + WAITS);
  /** Waits that the next finished transfer adds to `ended`. */
  private readonly recent: StaticArray<f64> = new StaticArray<f64>(WAITS);
  private readonly endPlaces: Map<u64, EndTotals> = new Map<u64, EndTotals>();
  private readonly callPlaces: Map<u64, CallTotalsRow> = new Map<u64, CallTotalsRow>();
  private readonly wires: Map<i32, Wire> = new Map<i32, Wire>();

  started(step: Step): void {
    step.waitSince = step.start;
    this.endOf(step.op, step.op.isSend);
    this.callOf(step.op);
  }

  /** The network took a send, at `step.phaseSince`. */
  sendBegan(step: Step, at: f64): void {
    const op = step.op;
    const comm = op.comm;
    if (!comm.isKnown || op.isForeign) return;
    const end = this.endOf(op, true);
    let sender = end.sender;
    if (sender === null) sender = end.sender = this.wireOf(comm).sender(op.peer);
    step.sendEnd = end;
    step.onWireSince = sender.wire.begins(sender, step.phaseSince, at);
  }

  /** For operations that have stopped, and at the end for those in flight. */
  opEnded(op: Op): void {
    if (op.bytes == 0 || !op.comm.isKnown || op.isForeign || op.isLost) return;
    this.endOf(op, op.isSend).drawn += op.bytes;
  }

  /** It left the phase `before`; the next one began at `step.phaseSince`. */
  entered(step: Step, before: Phase): void {
    this.leave(step, before, step.phaseSince);
    step.waitSince = max(step.phaseSince, step.waitSince);
  }

  stopped(step: Step, at: f64): void {
    const op = step.op;
    const bytes = step.bytes;
    const phase = step.phase;
    this.leave(step, phase, at);
    // A stand-in does not know its direction, but its step does.
    const end = this.endOf(op, op.isLost ? phase == Phase.SendWait : op.isSend);
    end.transfers += 1;
    const bin = this.ended.binOf(at);
    this.ended.addTo(bin, 0, 1);
    for (let wait = 0; wait < WAITS; wait++) {
      this.ended.addTo(bin, 1 + wait, this.recent[wait]);
      this.recent[wait] = 0;
    }
    if (end.isSend != 0) this.sendStopped(this.callOf(op), step, at);
    if (phase == Phase.SendWait && step.sendEnd !== null) onWire(step.sendEnd!, step, at);
    if (!(bytes > 0)) return;
    end.bytes += bytes;
    if (phase == Phase.SendWait) timed(end, bytes, at, at - step.waitSince);
  }

  private wireOf(comm: Comm): Wire {
    const number = comm.number;
    if (this.wires.has(number)) return this.wires.get(number);
    const made = new Wire();
    this.wires.set(number, made);
    return made;
  }

  private sendStopped(call: CallTotalsRow, step: Step, at: f64): void {
    const bytes = step.bytes;
    call.sends += 1;
    if (!(bytes > 0)) return;
    call.bytes += bytes;
    if (at >= this.since) this.sent += bytes;
    if (step.phase != Phase.SendWait) return;
    call.timed += 1;
    call.took += at - step.waitSince;
  }

  /** Call it after the last record, for each step in flight. */
  isOpen(step: Step): void {
    const wait = waitOf(step.phase);
    if (wait == Waited.None) return;
    const end = this.endOf(step.op, step.op.isSend);
    if (end.open == 0 || step.waitSince < end.openSince) {
      end.openSince = step.waitSince;
      end.openWait = wait;
    }
    end.open += 1;
  }

  private leave(step: Step, phase: Phase, at: f64): void {
    const wait = waitOf(phase);
    const took = at - step.waitSince;
    if (wait == Waited.None || !(took > 0)) return;
    const end = changetype<usize>(this.endOf(step.op, step.op.isSend));
    addWait(end + offsetof<ConnectionTotalsRow>('gpuWait'), wait, took);
    addWait(changetype<usize>(this.callOf(step.op)) + offsetof<CallTotalsRow>('gpuWait'), wait, took);
    this.recent[wait] += took;
  }

  private endOf(op: Op, isSend: bool): EndTotals {
    const known = op.totals;
    if (known !== null && (known.isSend != 0) == isSend) return known;
    const key =
      ((lowHalf(op.comm.number + 1) & 0x3fffff) << 42) |
      (lowHalf(op.peer) << 10) |
      ((<u64>(op.channel & 0x1ff)) << 1) |
      (isSend ? 1 : 0);
    let end: EndTotals;
    if (this.endPlaces.has(key)) end = this.endPlaces.get(key);
    else {
      end = new EndTotals(op.comm.number, op.channel, op.peer, isSend);
      this.endPlaces.set(key, end);
      this.ends.push(end);
    }
    if (isSend == op.isSend) op.totals = end;
    return end;
  }

  private callOf(op: Op): CallTotalsRow {
    const known = op.callTotals;
    if (known !== null) return known;
    const work = op.work;
    const func: u32 = work === null || op.isForeign ? 0 : file().sameText(work.func);
    const key = (lowHalf(op.comm.number + 1) << 16) | func;
    let call: CallTotalsRow;
    if (this.callPlaces.has(key)) call = this.callPlaces.get(key);
    else {
      call = new CallTotalsRow();
      call.comm = op.comm.number;
      call.func = func;
      this.callPlaces.set(key, call);
      this.calls.push(call);
    }
    return (op.callTotals = call);
  }
}

/** `first`: where the first of a row's waits lies. */
function addWait(first: usize, wait: Waited, took: f64): void {
  const at = first + ((<usize>wait) << 3);
  store<f64>(at, load<f64>(at) + took);
}

function waitOf(phase: Phase): Waited {
  switch (phase) {
    case Phase.SendGpuWait:
    case Phase.RecvGpuWait:
      return Waited.Gpu;
    case Phase.PeerWait:
      return Waited.Peer;
    case Phase.SendWait:
      return Waited.Send;
    case Phase.RecvWait:
      return Waited.Recv;
    case Phase.FlushWait:
      return Waited.Flush;
    default:
      return Waited.None;
  }
}

function timed(end: EndTotals, bytes: f64, at: f64, took: f64): void {
  const size = sizeOf(end, bytes);
  if (size === null) return;
  const bin = size.ended.binOf(at);
  size.ended.addTo(bin, 0, 1);
  size.ended.addTo(bin, 1, took);
  size.sumOfSquares += took * took;
  if (took < size.least) size.least = took;
}

function onWire(end: EndTotals, step: Step, at: f64): void {
  const sender = end.sender!;
  const own = sender.wire.ends(sender, step.onWireSince, at);
  const took = at - step.phaseSince;
  if (took > end.longest) {
    end.longest = took;
    end.longestSince = step.phaseSince;
    end.longestStep = step.number;
  }
  const size = sizeOf(end, isNaN(step.bytes) ? -1 : step.bytes);
  if (size === null) return;
  if (size.times === null) {
    if (end.sizes.length > MOST_BINNED) return;
    size.times = new StaticArray<u32>(TIME_BINS);
  }
  countTime(size.times!, took);
  size.own += own;
}

/** null: there are too many sizes. */
function sizeOf(end: EndTotals, bytes: f64): SizeTotals | null {
  const sizes = end.sizes;
  for (let i = 0; i < sizes.length; i++) if (sizes[i].bytes == bytes) return sizes[i];
  if (sizes.length >= MOST_SIZES) return null;
  const made = new SizeTotals(bytes);
  sizes.push(made);
  return made;
}

function countTime(counts: StaticArray<u32>, took: f64): void {
  let octave = 0;
  let scaled = took < 1 ? 1.0 : took;
  while (scaled >= 2147483648) {
    scaled /= 65536;
    octave += 16;
  }
  const whole = 31 - clz<u32>(<u32>scaled);
  octave += whole;
  const part = <i32>Math.floor((scaled * PER_OCTAVE) / <f64>(1 << whole)) - <i32>PER_OCTAVE;
  const bin = min(octave * <i32>PER_OCTAVE + part, TIME_BINS - 1);
  unchecked(counts[bin]++);
}
