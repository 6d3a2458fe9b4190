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
import { NONE, type StepTable } from '../../model/step_table.js';
import { StepPhase, type Op } from '../../model/types.js';
import { Wait, WAIT_OF } from '../../model/waits.js';
import type { Slot, Slots } from './connections.js';
import type { TrackContext } from './context.js';
import type { FlowCensus } from './flow_census.js';
import type { Args, ArgValue, FlowId } from './sink.js';
import type { Hash64 } from '../../base/hash.js';

/** What the steps of an operation need of its drawing. */
export interface StepPlace {
  readonly slots: Slots;
  /** Shared by its arrows; null: it has none. */
  readonly flow: Hash64 | null;
  /** Its next step's row in the census. */
  ends: number;
}

export class StepTracks {
  /** One object for all arrows, because a sink reads it at once. */
  private readonly arrow = { hi: 0, lo: 0 };
  /** By row of the step table: the slot of a step in flight. */
  private readonly slots: (Slot | undefined)[] = [];

  /** `placeOf`: undefined if the operation is not drawn, or is over. `spareSlots`: then its steps are drawn there. */
  constructor(
    private readonly context: TrackContext,
    private readonly flows: FlowCensus,
    private readonly placeOf: (op: Op) => StepPlace | undefined,
    private readonly spareSlots: (op: Op) => Slots,
  ) {}

  start(steps: StepTable, row: number, at: TraceNs): void {
    const op = steps.op[row]!;
    const number = steps.number[row]!;
    const slots = this.placeOf(op)?.slots ?? this.spareSlots(op);
    const slot = slots.acquire(number, at);
    slot.steps.begin(at, number);
    this.slots[row] = slot;
  }

  /** `began`: the recorded begin of the phase, between the phase before and now. */
  phase(steps: StepTable, row: number, began: TraceNs, now: TraceNs): void {
    const slot = this.slots[row];
    if (!slot) return;
    const at = began < slot.phaseAt ? slot.phaseAt : began > now ? now : began;
    if (slot.inPeerWait) this.drawPeerWait(steps, row, slot, at);
    slot.phaseAt = at;
    const phase = steps.phaseOf(row);
    if (phase === StepPhase.PeerWait) {
      slot.inPeerWait = true;
      return;
    }
    const bytes = carriesBytes(phase) && steps.bytes[row] !== NONE ? steps.bytes[row]! : null;
    const flow = phase === StepPhase.FlushWait ? this.arrowOf(steps, row) : null;
    slot.steps.phase(at, WAIT_OF[phase], bytes, flow);
  }

  /** `byItself`: NCCL stopped the step. */
  stop(steps: StepTable, row: number, at: TraceNs, byItself: boolean): void {
    this.end(steps, row, at, byItself ? NO_MORE : NOT_STOPPED);
  }

  /** Its communicator was finalized. */
  abort(steps: StepTable, row: number, at: TraceNs, args: Args): void {
    this.end(steps, row, at, args);
  }

  /** After the last record: what is still in flight waits forever. */
  finish(steps: StepTable): void {
    for (const [row, slot] of this.slots.entries()) {
      if (!slot) continue;
      if (slot.inPeerWait) slot.steps.phase(slot.phaseAt, Wait.Peer, null, this.arrowOf(steps, row));
      slot.inPeerWait = false;
    }
  }

  /** For a step that waits forever: the proxy thread's last poll. */
  lastPoll(steps: StepTable, row: number): void {
    const slot = this.slots[row];
    const last = steps.lastPoll[row] === NONE ? steps.lastStartRepeat[row]! : steps.lastPoll[row]!;
    if (!slot || last === NONE) return;
    const at = later(slot.phaseAt, this.context.time(last as Ticks));
    this.context.sink.instant(slot.steps.track, at, 'last poll', { args: stepArgs(steps, row) });
  }

  private end(steps: StepTable, row: number, end: TraceNs, more: Args): void {
    const slot = this.slots[row];
    if (!slot) return;
    this.slots[row] = undefined;
    if (slot.inPeerWait) this.leavePeerWait(steps, row, slot, end);
    const at = later(slot.phaseAt, end);
    const hasOwn = steps.polls[row]! > 1 || steps.startRepeats[row]! > 0;
    slot.steps.end(at, hasOwn ? [...stepArgs(steps, row), ...more] : more);
    slot.phaseAt = at;
    slot.isBusy = false;
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
    slot.steps.phase(last, NOT_KNOWN, null, null);
  }

  /** From the slot's newest phase to `until`. The next call ends it. */
  private drawPeerWait(steps: StepTable, row: number, slot: Slot, until: TraceNs): void {
    slot.inPeerWait = false;
    const flow = this.arrowOf(steps, row);
    if (until === slot.phaseAt) slot.steps.brief(until, Wait.Peer, flow);
    else slot.steps.phase(slot.phaseAt, Wait.Peer, null, flow);
  }

  private arrowOf(steps: StepTable, row: number): FlowId | null {
    const place = this.placeOf(steps.op[row]!);
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

/** The record of what a step did is lost. */
const NOT_KNOWN = 'not known';

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
