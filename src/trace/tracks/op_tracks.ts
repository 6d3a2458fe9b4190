/**
 * Connections: per channel, direction and peer one track of proxy operations (in lanes: a later operation is appended while the one before
 * still runs), and below it one track per step slot with the steps and their phases.
 *
 *   ch00 send to 5      | proxy send ───────────────────────|
 *     step slot 0       | step ───────────────|             |
 *                       | GPU wait | peer wait | send wait  |
 *
 * A transfer's arrow goes from the sender's peer wait to the receiver's flush wait. This follows causality, so it cannot point backwards
 * between ranks of one clock.
 */

import { append } from '../../base/extremes.js';
import type { Hash64 } from '../../base/hash.js';
import { OpenSet } from '../../base/open_set.js';
import type { Ticks, TraceNs } from '../../base/time.js';
import { NONE, type StepTable } from '../../model/step_table.js';
import { StepPhase, type Op } from '../../model/types.js';
import { WAIT_OF } from '../../model/waits.js';
import type { CommGroups } from './comm_groups.js';
import { Connections, type Connection, type Slot, type Slots } from './connections.js';
import type { TrackContext } from './context.js';
import type { FlowCensus } from './flow_census.js';
import { Correlations, operationId, setTransferId, transferName } from '../../model/identity.js';
import type { InFlight } from './in_flight.js';
import { parentWords } from './parent_words.js';
import type { Args, ArgValue, FlowId, SliceRef, TrackRef } from './sink.js';

interface OpenOp {
  readonly connection: Connection;
  readonly slots: Slots;
  readonly lane: number;
  readonly track: TrackRef;
  readonly slice: SliceRef;
  readonly at: TraceNs;
  /** Shared by its arrows; null: it has none. */
  readonly flow: Hash64 | null;
  /** Its next step's row in the census. */
  ends: number;
}

export class OpTracks {
  private readonly connections: Connections;
  private readonly correlations = new Correlations();
  private readonly open = new OpenSet<Op>();
  /** One object for all arrows, because a sink reads it at once. */
  private readonly arrow = { hi: 0, lo: 0 };
  /** By row of the step table: the slot of a step in flight. */
  private readonly slots: (Slot | undefined)[] = [];

  constructor(
    private readonly context: TrackContext,
    groups: CommGroups,
    private readonly flows: FlowCensus,
    private readonly inFlight: InFlight,
  ) {
    this.connections = new Connections(context, groups);
  }

  opStart(op: Op, at: TraceNs): void {
    const connection = this.connections.of(op);
    if (connection.isEndless) {
      op.isEndless = true;
      const args: Args = [...opArgs(op), ['end', 'not reported by NCCL (CollNet or memcpy)']];
      const correlation = this.correlations.of(op.of);
      this.context.sink.instant(connection.lanes.track(0), at, opName(op, true), { args, correlation });
      return;
    }
    const lane = connection.lanes.acquire();
    const track = connection.lanes.track(lane);
    const slice = this.context.sink.begin(track, at, opName(op, false), {
      args: opArgs(op),
      correlation: this.correlations.of(op.of),
    });
    const flow = this.flowOf(op, connection);
    op.drawing = {
      connection,
      slots: connection.slotsOf(lane),
      lane,
      track,
      slice,
      at,
      flow,
      ends: flow === null ? -1 : this.flows.begin(flow, op.isSend),
    } satisfies OpenOp;
    this.open.add(op);
    this.inFlight.opStarted(op, at);
  }

  opStop(op: Op, at: TraceNs): void {
    if (openOp(op)) this.inFlight.opEnded(op, at);
    this.endOp(op, at, []);
  }

  /** What was unfinished at a communicator's finalize never ends. The rest stays open: it shows a hang. */
  finish(steps: StepTable): void {
    for (const op of this.open.all()) {
      const finalized = op.comm?.finalizeTick ?? null;
      if (op.foreign || finalized === null || op.start > finalized) {
        for (const row of op.openSteps) this.lastPoll(steps, row);
        continue;
      }
      const at = this.context.time(finalized);
      for (const row of op.openSteps) {
        this.leavePeerWait(steps, row, at);
        this.endStep(steps, row, at, [FINALIZED]);
      }
      this.endOp(op, at, [FINALIZED]);
    }
  }

  /** For a step that waits forever: the proxy thread's last poll. */
  private lastPoll(steps: StepTable, row: number): void {
    const open = this.slots[row];
    const last = steps.lastPoll[row] === NONE ? steps.lastStartRepeat[row]! : steps.lastPoll[row]!;
    if (!open || last === NONE) return;
    const at = later(open.phaseAt, this.context.time(last as Ticks));
    this.context.sink.instant(open.steps.track, at, 'last poll', { args: stepArgs(steps, row) });
  }

  private endOp(op: Op, at: TraceNs, args: Args): void {
    const open = openOp(op);
    if (!open) return;
    op.drawing = undefined;
    this.open.delete(op);
    this.context.sink.end(open.track, later(open.at, at), open.slice, {
      args: [['bytes', op.bytes], ...args],
    });
    open.connection.lanes.release(open.lane);
  }

  stepStart(steps: StepTable, row: number, at: TraceNs): void {
    const op = steps.op[row]!;
    const open = openOp(op);
    const slots = open ? open.slots : this.connections.of(op).slotsOf(0);
    const number = steps.number[row]!;
    const slot = slots.acquire(number);
    slot.phaseAt = at;
    slot.steps.begin(at, number);
    this.slots[row] = slot;
  }

  /** `told`: the recorded begin of the phase, between the phase before and now. */
  stepPhase(steps: StepTable, row: number, told: TraceNs, now: TraceNs): void {
    const open = this.slots[row];
    if (!open) return;
    const from = told < open.phaseAt ? open.phaseAt : told > now ? now : told;
    open.phaseAt = from;
    const phase = steps.phaseOf(row);
    const bytes = carriesBytes(phase) && steps.bytes[row] !== NONE ? steps.bytes[row]! : null;
    open.steps.phase(from, WAIT_OF[phase], bytes, this.flowOfPhase(steps, row, phase));
  }

  /** `told`: by its own stop. */
  stepStop(steps: StepTable, row: number, at: TraceNs, told: boolean): void {
    this.leavePeerWait(steps, row, at);
    this.endStep(steps, row, at, told ? NO_MORE : NOT_STOPPED);
    const op = steps.op[row]!;
    if (op.lost) this.standInStep(op, at);
  }

  /** For a send without its record of leaving: it waited until its last poll, not until its end. */
  private leavePeerWait(steps: StepTable, row: number, at: TraceNs): void {
    const open = this.slots[row];
    const polled = steps.lastPoll[row]!;
    if (!open || steps.phase[row] !== StepPhase.PeerWait || polled === NONE) return;
    const last = later(open.phaseAt, this.context.time(polled as Ticks));
    if (last >= at) return;
    open.phaseAt = last;
    open.steps.phase(last, NOT_TOLD, null, null);
  }

  /** A stand-in without a stop ends with its last step, which frees its lane. */
  private standInStep(op: Op, at: TraceNs): void {
    if (!openOp(op) || op.stepsDone !== this.context.standInSteps(op)) return;
    this.inFlight.opEnded(op, at);
    this.endOp(op, at, END_LOST);
  }

  private endStep(steps: StepTable, row: number, at: TraceNs, more: Args): void {
    const open = this.slots[row];
    if (!open) return;
    this.slots[row] = undefined;
    const hasOwn = steps.polls[row]! > 1 || steps.startRepeats[row]! > 0;
    open.steps.end(later(open.phaseAt, at), hasOwn ? [...stepArgs(steps, row), ...more] : more);
    open.isBusy = false;
  }

  private flowOf(op: Op, connection: Connection): Hash64 | null {
    if (connection.transfers === null || !op.ordinalAbsolute) return null;
    const { outOfStep } = this.context;
    if (outOfStep.size > 0 && op.ordinal >= (outOfStep.get(transferName(connection.transfers)) ?? Infinity))
      return null;
    return operationId(connection.transfers, op.ordinal);
  }

  private flowOfPhase(steps: StepTable, row: number, phase: StepPhase): FlowId | null {
    if (phase !== StepPhase.PeerWait && phase !== StepPhase.FlushWait) return null;
    const open = openOp(steps.op[row]!);
    if (!open?.flow) return null;
    const { arrow } = this;
    const number = steps.number[row]!;
    setTransferId(arrow, open.flow, number);
    const { brokenTransfers } = this.context;
    if (brokenTransfers.size > 0 && brokenTransfers.has(transferName(arrow))) return null;
    open.ends = this.flows.step(open.ends, number);
    return arrow;
  }
}

const openOp = (op: Op): OpenOp | undefined => op.drawing as OpenOp | undefined;

/** The record of what a step did is lost. */
const NOT_TOLD = 'not told';

const carriesBytes = (phase: StepPhase): boolean =>
  phase === StepPhase.SendWait || phase === StepPhase.FlushWait;

/** An endless operation's direction is not known: NCCL says isSend 0 both ways. */
function opName(op: Op, isEndless: boolean): string {
  if (op.lost) return 'began before the window';
  if (isEndless) return 'proxy op';
  return op.isSend ? 'proxy send' : 'proxy recv';
}

function opArgs(op: Op): Args {
  if (op.lost) return [['start', 'overwritten in the ring']];
  const args: [string, ArgValue][] = [
    ['op', op.of?.func ?? 'unknown'],
    ['ordinal', op.ordinal],
    ['nSteps', op.nSteps],
    ['chunkSize', op.chunkSize],
  ];
  if (op.foreign) append(args, foreignArgs(op, op.foreign.pid));
  const parent = parentWords(op.parent);
  if (parent !== null) args.push(['parent', parent]);
  if (!op.ordinalAbsolute) args.push(['ordinalAbsolute', false]);
  return args;
}

function foreignArgs({ originator, of }: Op, pid: number): [string, ArgValue][] {
  const args: [string, ArgValue][] = [['for', originator?.process ?? `pid ${pid}, whose file is not here`]];
  if (of && of.seq !== null) args.push(['seq', of.seq]);
  return args;
}

function stepArgs(steps: StepTable, row: number): [string, ArgValue][] {
  const args: [string, ArgValue][] = [];
  const [polls, repeats] = [steps.polls[row]!, steps.startRepeats[row]!];
  if (polls > 1) args.push(['peerPolls', polls]);
  if (repeats > 0) args.push(['startRepeats', repeats]);
  return args;
}

const FINALIZED: readonly [string, ArgValue] = ['end', 'communicator finalized'];
const END_LOST: Args = [['end', 'not recorded, as its last step']];
const NO_MORE: Args = [];
const NOT_STOPPED: Args = [['stop', 'not recorded, as its operation']];

function later(a: TraceNs, b: TraceNs): TraceNs {
  return a > b ? a : b;
}
