/**
 * The step slots below a connection: network transfers with their phases.
 *
 *     step slot 0       | step ───────────────|
 *                       | GPU wait | peer wait | send wait  |
 *
 * A transfer's arrow goes from the sender's peer wait to the receiver's flush wait. This follows causality, so it cannot point backwards
 * between ranks of one clock. A peer wait is drawn when it is over: most end as they begin, and when they end is known late.
 */

import { Op, Phase, Step } from '../event';
import { ByteCounters } from './byte_counters';
import { Clock } from './clock';
import { Slot } from './connection';
import { FlowCensus } from './flow_census';
import { transferId } from './identity';
import { Ops } from './ops';
import { Reason, refused } from './refused';
import { Sink } from './sink';
import { Text } from './text';
import { Track } from './tracks';
import { cutAt, cutText } from './words';

/** Why a step ended that NCCL did not stop. */
export const NOT_STOPPED: string = 'not recorded, as its operation';

export class Steps {
  /** Transfers with contradicting ends: they get no arrow. */
  readonly broken: Set<u64> = new Set<u64>();
  private readonly names: StaticArray<Text>;
  private readonly step: Text;
  private readonly notKnown: Text;
  private readonly bytesName: Text;
  private readonly pollsName: Text;

  constructor(
    private readonly sink: Sink,
    private readonly clock: Clock,
    private readonly flows: FlowCensus,
    private readonly bytes: ByteCounters,
    private readonly ops: Ops,
  ) {
    const texts = sink.texts;
    const notKnown = texts.fixed('not known');
    this.step = texts.fixed('step');
    this.notKnown = notKnown;
    this.bytesName = texts.fixed('bytes');
    this.pollsName = texts.fixed('peerPolls');
    // By phase. A step that is only posted has no slice below `step`.
    this.names = [
      notKnown,
      texts.fixed('GPU wait'),
      texts.fixed('peer wait'),
      texts.fixed('send wait'),
      texts.fixed('recv wait'),
      texts.fixed('flush wait'),
      texts.fixed('GPU wait'),
    ];
  }

  started(step: Step, at: f64): void {
    const op = step.op;
    const slots = op.slots;
    const slot = (slots === null ? this.ops.spareSlots(op) : slots).acquire(step.number, at);
    step.slot = slot;
    const track = slot.track;
    if (track.openCount != 0) refused(track, at, Reason.NotInStep);
    this.sink.number(this.step, step.number);
    this.sink.begin(track, at, this.step);
  }

  /** `now`: when it was recorded. The phase may have begun before, at `step.phaseSince`. */
  entered(step: Step, tick: f64): void {
    const phase = step.phase;
    const now = this.clock.time(tick);
    if (phase == Phase.FlushWait) this.bytes.moved(step.op, false, bytesOf(step), now);
    const slot = step.slot;
    if (slot === null) return;
    const began = step.phaseSince == tick ? now : this.clock.time(step.phaseSince);
    const at = began < slot.phaseAt ? slot.phaseAt : began > now ? now : began;
    if (slot.inPeerWait) this.drawPeerWait(step, slot, at);
    slot.phaseAt = at;
    if (phase == Phase.PeerWait) {
      slot.inPeerWait = true;
      return;
    }
    if ((phase == Phase.SendWait || phase == Phase.FlushWait) && !isNaN(step.bytes))
      this.sink.number(this.bytesName, step.bytes);
    if (phase == Phase.FlushWait) this.addArrow(step);
    this.drawPhase(slot.track, at, unchecked(this.names[phase]));
  }

  /** `byItself`: NCCL stopped the step. */
  stopped(step: Step, at: f64, byItself: bool): void {
    const op = step.op;
    if (step.phase == Phase.SendWait) this.bytes.moved(op, true, bytesOf(step), at);
    this.end(step, at, byItself ? '' : 'stop', NOT_STOPPED);
    if (op.isLost) this.ops.standInStep(op, at);
  }

  /** `why`: a further argument; '': none. */
  end(step: Step, end: f64, why: string, text: string): void {
    const slot = step.slot;
    if (slot === null) return;
    step.slot = null;
    if (slot.inPeerWait) this.leavePeerWait(step, slot, end);
    const at = max(slot.phaseAt, end);
    const sink = this.sink;
    const track = slot.track;
    if (track.openCount == 2) this.sink.endPlain(track, at);
    if (track.openCount != 1) refused(track, at, Reason.NotInStep);
    this.addCounts(step);
    if (why != '') sink.text(sink.texts.fixed(why), sink.texts.fixed(text));
    sink.endInnermost(track, at);
    slot.phaseAt = at;
    slot.slots.release(slot);
  }

  /**
   * Ends operations that were unfinished when their communicator was finalized, because they never end, and those of work that is cut off.
   * Other operations stay open, which shows a hang. `rows`: all steps.
   */
  finish(rows: Step[]): void {
    const open = this.ops.unfinished();
    const waiting: Op[] = [];
    for (let i = 0; i < open.length; i++) {
      const op = open[i];
      const cut = op.isForeign ? NaN : cutAt(op.comm, op.work, op.start);
      if (isNaN(cut)) {
        waiting.push(op);
        continue;
      }
      const at = this.clock.time(cut);
      const why = cutText(op.comm, op.start);
      for (let n = 0; n < op.openSteps.length; n++) this.end(op.openSteps[n], at, 'end', why);
      this.ops.cut(op, at, why);
    }
    for (let i = 0; i < rows.length; i++) if (rows[i].isInFlight) this.wait(rows[i]);
    for (let i = 0; i < waiting.length; i++)
      for (let n = 0; n < waiting[i].openSteps.length; n++) this.lastPoll(waiting[i].openSteps[n]);
  }

  /** After the last record, for each step that is still in flight: it waits forever. */
  private wait(step: Step): void {
    const slot = step.slot;
    if (slot === null || !slot.inPeerWait) return;
    slot.inPeerWait = false;
    this.addArrow(step);
    this.drawPhase(slot.track, slot.phaseAt, unchecked(this.names[Phase.PeerWait]));
  }

  /** For a step that waits forever: the proxy thread's last poll. */
  private lastPoll(step: Step): void {
    const slot = step.slot;
    const last = isNaN(step.lastPoll) ? step.lastStartRepeat : step.lastPoll;
    if (slot === null || isNaN(last)) return;
    this.addCounts(step);
    this.sink.instant(
      slot.track,
      max(slot.phaseAt, this.clock.time(last)),
      this.sink.texts.fixed('last poll'),
    );
  }

  private addCounts(step: Step): void {
    if (step.polls > 1) this.sink.number(this.pollsName, step.polls);
    if (step.startRepeats > 0) this.sink.number(this.sink.texts.fixed('startRepeats'), step.startRepeats);
  }

  /** For a send whose record of the send's begin is lost: it waited until its last poll, not until its end. */
  private leavePeerWait(step: Step, slot: Slot, at: f64): void {
    const last = max(slot.phaseAt, this.clock.time(step.lastPoll));
    if (last >= at) {
      this.drawPeerWait(step, slot, max(slot.phaseAt, at));
      return;
    }
    this.drawPeerWait(step, slot, last);
    slot.phaseAt = last;
    this.drawPhase(slot.track, last, this.notKnown);
  }

  /** From the slot's newest phase to `until`. The next call ends it. */
  private drawPeerWait(step: Step, slot: Slot, until: f64): void {
    slot.inPeerWait = false;
    this.addArrow(step);
    const name = unchecked(this.names[Phase.PeerWait]);
    if (until != slot.phaseAt) this.drawPhase(slot.track, slot.phaseAt, name);
    else {
      if (slot.track.openCount == 2) this.sink.endPlain(slot.track, until);
      if (slot.track.openCount != 1) refused(slot.track, until, Reason.NotInStep);
      this.sink.brief(slot.track, until, name);
    }
  }

  /** Ends the phase before, if any. */
  @inline
  private drawPhase(track: Track, at: f64, name: Text): void {
    if (track.openCount == 2) this.sink.endPlain(track, at);
    if (track.openCount != 1) refused(track, at, Reason.NotInStep);
    this.sink.begin(track, at, name);
  }

  private addArrow(step: Step): void {
    const op = step.op;
    if (op.flow == 0) return;
    const number = <u32>step.number;
    const id = transferId(op.flow, number);
    if (this.broken.size > 0 && this.broken.has(id)) return;
    op.flowRow = this.flows.step(op.flowRow, number);
    this.sink.arrow(id);
  }
}

function bytesOf(step: Step): f64 {
  return isNaN(step.bytes) ? 0 : step.bytes;
}
