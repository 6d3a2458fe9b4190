/**
 * The step slots below a connection: network transfers with their phases.
 *
 *     step slot 0       | step ───────────────|
 *                       | GPU wait | peer wait | send wait  |
 *
 * A transfer's arrow goes from the sender's peer wait to the receiver's flush wait. This follows causality, so it cannot point backwards
 * between ranks of one clock. A peer wait is drawn when it is over: most end as they begin, and when they end is known late.
 */

import type { Ticks, TraceNs } from '../../base/time.js';
import { setTransferId, transferName } from '../../model/identity.js';
import { LEFT, STARTED, STOPPED, type StepEvents } from '../../model/step_events.js';
import { NONE, type StepTable } from '../../model/step_table.js';
import { StepPhase, type Op } from '../../model/types.js';
import { WAIT_OF } from '../../model/waits.js';
import type { ByteCounters } from './byte_counters.js';
import type { Slot, Slots } from './connections.js';
import type { TrackContext } from './context.js';
import type { FlowCensus } from './flow_census.js';
import type { Args, ArgValue, FlowId } from './sink.js';
import { NO_VALUE, STEP_NAMES, StepName, type StepSlices } from './step_slices.js';
import type { Hash64 } from '../../base/hash.js';

/** What the steps of an operation need of its drawing. */
export interface StepPlace {
  /** Null: it gave no sign of life yet. */
  slots: Slots | null;
  /** Shared by its arrows; null: it has none. */
  readonly flow: Hash64 | null;
  /** Its next step's row in the census. */
  ends: number;
}

/** What steps need of the drawing of operations. */
export interface StepPlaces {
  /** Undefined: the operation is not drawn, or is over. */
  placeOf(op: Op): StepPlace | undefined;
  /** For the steps of such an operation. */
  spareSlots(op: Op): Slots;
  /** A step of a stand-in has ended. */
  standInStep(op: Op, at: TraceNs): void;
}

export class StepTracks {
  /** One object for all arrows, because a sink reads it at once. */
  private readonly arrow = { hi: 0, lo: 0 };
  /** By row of the step table: the slot of a step in flight. */
  private readonly slots: (Slot | undefined)[] = [];
  private readonly slices: StepSlices;

  constructor(
    private readonly context: TrackContext,
    private readonly flows: FlowCensus,
    private readonly bytes: ByteCounters,
    private readonly ops: StepPlaces,
  ) {
    this.slices = context.sink.steps;
  }

  draw(steps: StepTable, events: StepEvents): void {
    const { time } = this.context;
    const { what, row: rows, at: ticks, from: begins, length } = events;
    for (let i = 0; i < length; i++) {
      const row = rows[i]!;
      const at = time(ticks[i] as Ticks);
      if (what[i] === STARTED) this.start(steps, row, at);
      else if (what[i] === STOPPED || what[i] === LEFT) this.stop(steps, row, at, what[i] === STOPPED);
      else {
        const began = begins[i] === ticks[i] ? at : time(begins[i] as Ticks);
        this.phase(steps, row, what[i] as StepPhase, began, at);
      }
    }
  }

  private start(steps: StepTable, row: number, at: TraceNs): void {
    const op = steps.op[row]!;
    const number = steps.number[row]!;
    const slots = this.ops.placeOf(op)?.slots ?? this.ops.spareSlots(op);
    const slot = slots.acquire(number, at);
    this.slices.begin(slot.track, at, number);
    this.slots[row] = slot;
  }

  /** `began`: the recorded begin of the phase, between the phase before and now. */
  private phase(steps: StepTable, row: number, phase: StepPhase, began: TraceNs, now: TraceNs): void {
    if (phase === StepPhase.FlushWait)
      this.bytes.moved(steps.op[row]!, false, Math.max(0, steps.bytes[row]!), now);
    const slot = this.slots[row];
    if (!slot) return;
    const at = began < slot.phaseAt ? slot.phaseAt : began > now ? now : began;
    if (slot.inPeerWait) this.drawPeerWait(steps, row, slot, at);
    slot.phaseAt = at;
    if (phase === StepPhase.PeerWait) {
      slot.inPeerWait = true;
      return;
    }
    const bytes = carriesBytes(phase) && steps.bytes[row] !== NONE ? steps.bytes[row]! : NO_VALUE;
    const flow = phase === StepPhase.FlushWait ? this.arrowOf(steps, row) : null;
    this.slices.phase(slot.track, at, NAME_OF[phase]!, bytes, flow);
  }

  /** `byItself`: NCCL stopped the step. */
  private stop(steps: StepTable, row: number, at: TraceNs, byItself: boolean): void {
    const op = steps.op[row]!;
    if (steps.phase[row] === StepPhase.SendWait)
      this.bytes.moved(op, true, Math.max(0, steps.bytes[row]!), at);
    this.end(steps, row, at, byItself ? NO_MORE : NOT_STOPPED);
    if (op.lost) this.ops.standInStep(op, at);
  }

  /** Its communicator was finalized. */
  abort(steps: StepTable, row: number, at: TraceNs, args: Args): void {
    this.end(steps, row, at, args);
  }

  /** After the last record: what is still in flight waits forever. */
  finish(steps: StepTable): void {
    for (const [row, slot] of this.slots.entries()) {
      if (!slot) continue;
      if (slot.inPeerWait)
        this.slices.phase(slot.track, slot.phaseAt, StepName.Peer, NO_VALUE, this.arrowOf(steps, row));
      slot.inPeerWait = false;
    }
  }

  /** For a step that waits forever: the proxy thread's last poll. */
  lastPoll(steps: StepTable, row: number): void {
    const slot = this.slots[row];
    const last = steps.lastPoll[row] === NONE ? steps.lastStartRepeat[row]! : steps.lastPoll[row]!;
    if (!slot || last === NONE) return;
    const at = later(slot.phaseAt, this.context.time(last as Ticks));
    this.context.sink.instant(slot.track, at, 'last poll', { args: stepArgs(steps, row) });
  }

  private end(steps: StepTable, row: number, end: TraceNs, more: Args): void {
    const slot = this.slots[row];
    if (!slot) return;
    this.slots[row] = undefined;
    if (slot.inPeerWait) this.leavePeerWait(steps, row, slot, end);
    const at = later(slot.phaseAt, end);
    const polls = steps.polls[row]! > 1 ? steps.polls[row]! : NO_VALUE;
    const repeats = steps.startRepeats[row]!;
    this.slices.end(slot.track, at, polls, repeats > 0 ? [['startRepeats', repeats], ...more] : more);
    slot.phaseAt = at;
    slot.slots.release(slot);
  }

  /** For a send whose record of the send's begin is lost: it waited until its last poll, not until its end. */
  private leavePeerWait(steps: StepTable, row: number, slot: Slot, at: TraceNs): void {
    const last = later(slot.phaseAt, this.context.time(steps.lastPoll[row]! as Ticks));
    if (last >= at) {
      this.drawPeerWait(steps, row, slot, later(slot.phaseAt, at));
      return;
    }
    this.drawPeerWait(steps, row, slot, last);
    slot.phaseAt = last;
    this.slices.phase(slot.track, last, StepName.NotKnown, NO_VALUE, null);
  }

  /** From the slot's newest phase to `until`. The next call ends it. */
  private drawPeerWait(steps: StepTable, row: number, slot: Slot, until: TraceNs): void {
    slot.inPeerWait = false;
    const flow = this.arrowOf(steps, row);
    if (until === slot.phaseAt) this.slices.brief(slot.track, until, StepName.Peer, flow);
    else this.slices.phase(slot.track, slot.phaseAt, StepName.Peer, NO_VALUE, flow);
  }

  private arrowOf(steps: StepTable, row: number): FlowId | null {
    const place = this.ops.placeOf(steps.op[row]!);
    if (!place?.flow) return null;
    const { arrow } = this;
    const number = steps.number[row]!;
    setTransferId(arrow, place.flow, number);
    const { brokenTransfers } = this.context;
    if (brokenTransfers.size > 0 && brokenTransfers.has(transferName(arrow))) return null;
    place.ends = this.flows.step(place.ends, number);
    return arrow;
  }
}

/** By phase. A step that is only posted has no slice below `step`. */
const NAME_OF = Object.values(StepPhase).map(
  (phase) => (STEP_NAMES as readonly string[]).indexOf(WAIT_OF[phase]) as StepName,
);

const carriesBytes = (phase: StepPhase): boolean =>
  phase === StepPhase.SendWait || phase === StepPhase.FlushWait;

function stepArgs(steps: StepTable, row: number): [string, ArgValue][] {
  const args: [string, ArgValue][] = [];
  const [polls, repeats] = [steps.polls[row]!, steps.startRepeats[row]!];
  if (polls > 1) args.push(['peerPolls', polls]);
  if (repeats > 0) args.push(['startRepeats', repeats]);
  return args;
}

const NO_MORE: Args = [];
const NOT_STOPPED: Args = [['stop', 'not recorded, as its operation']];

const later = (a: TraceNs, b: TraceNs): TraceNs => (a > b ? a : b);
