/**
 * Connections: per channel, direction and peer one track of proxy operations (in lanes: a later operation is appended while the one before
 * still runs), and below it the step slots (step_tracks.ts).
 */

import { append } from '../../base/extremes.js';
import type { Hash64 } from '../../base/hash.js';
import { OpenSet } from '../../base/open_set.js';
import type { TraceNs } from '../../base/time.js';
import type { StepTable } from '../../model/step_table.js';
import type { Op } from '../../model/types.js';
import type { CommGroups } from './comm_groups.js';
import type { ByteCounters } from './byte_counters.js';
import { Connections, type Connection, type Slots } from './connections.js';
import type { TrackContext } from './context.js';
import type { FlowCensus } from './flow_census.js';
import { Correlations, operationId, transferName } from '../../model/identity.js';
import type { InFlight } from './in_flight.js';
import { parentText } from './parent_text.js';
import type { Args, ArgValue, SliceRef, TrackRef } from './sink.js';
import { StepTracks, type StepPlace } from './step_tracks.js';

interface OpenOp extends StepPlace {
  readonly connection: Connection;
  /** -1: it gave no sign of life yet. */
  slotSet: number;
  readonly lane: number;
  readonly track: TrackRef;
  readonly slice: SliceRef;
  readonly at: TraceNs;
}

export class OpTracks {
  readonly steps: StepTracks;
  private readonly connections: Connections;
  private readonly correlations = new Correlations();
  private readonly open = new OpenSet<Op>();

  constructor(
    private readonly context: TrackContext,
    groups: CommGroups,
    private readonly flows: FlowCensus,
    private readonly inFlight: InFlight,
    bytes: ByteCounters,
  ) {
    this.connections = new Connections(context, groups);
    this.steps = new StepTracks(context, flows, bytes, this);
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
    const lane = connection.lanes.acquire(at);
    const track = connection.lanes.track(lane);
    const slice = this.context.sink.begin(track, at, opName(op, false), {
      args: opArgs(op),
      correlation: this.correlations.of(op.of),
    });
    const flow = this.flowOf(op, connection);
    op.drawing = {
      connection,
      slots: null,
      slotSet: -1,
      lane,
      track,
      slice,
      at,
      flow,
      ends: flow === null ? -1 : this.flows.begin(flow, op.isSend),
    } satisfies OpenOp;
    this.open.add(op);
    this.inFlight.opStarted(op, at);
    if (op.lost) this.opAlive(op);
  }

  opAlive(op: Op): void {
    const open = openOp(op);
    if (!open) return;
    open.slotSet = open.connection.slotSets.acquire();
    open.slots = open.connection.slotsOf(open.slotSet);
  }

  opStop(op: Op, at: TraceNs): void {
    if (openOp(op)) this.inFlight.opEnded(op, at);
    this.endOp(op, at, []);
  }

  /**
   * Ends operations that were unfinished when their communicator was finalized, because they never end. Other operations stay open, which
   * shows a hang.
   */
  finish(steps: StepTable): void {
    const waiting: Op[] = [];
    for (const op of this.open.all()) {
      const finalized = op.comm?.finalizeTick ?? null;
      if (op.foreign || finalized === null || op.start > finalized) {
        waiting.push(op);
        continue;
      }
      const at = this.context.time(finalized);
      for (const row of op.openSteps) this.steps.abort(steps, row, at, [FINALIZED]);
      this.endOp(op, at, [FINALIZED]);
    }
    this.steps.finish(steps);
    for (const op of waiting) for (const row of op.openSteps) this.steps.lastPoll(steps, row);
  }

  /** Undefined: it is not drawn, or is over. */
  placeOf(op: Op): StepPlace | undefined {
    return openOp(op);
  }

  /** For steps of an operation without a place. */
  spareSlots(op: Op): Slots {
    return this.connections.of(op).slotsOf(0);
  }

  /** A stand-in without a stop ends with its last step, which frees its lane. */
  standInStep(op: Op, at: TraceNs): void {
    if (!openOp(op) || op.stepsDone !== this.context.standInSteps(op)) return;
    this.inFlight.opEnded(op, at);
    this.endOp(op, at, END_LOST);
  }

  private endOp(op: Op, at: TraceNs, args: Args): void {
    const open = openOp(op);
    if (!open) return;
    op.drawing = undefined;
    this.open.delete(op);
    const end = later(open.at, at);
    this.context.sink.end(open.track, end, open.slice, { args: [['bytes', op.bytes], ...args] });
    open.connection.lanes.release(open.lane, end);
    if (open.slotSet >= 0) open.connection.slotSets.release(open.slotSet);
  }

  private flowOf(op: Op, connection: Connection): Hash64 | null {
    if (connection.transfers === null || !op.ordinalAbsolute) return null;
    const { outOfStep } = this.context;
    if (outOfStep.size > 0 && op.ordinal >= (outOfStep.get(transferName(connection.transfers)) ?? Infinity))
      return null;
    return operationId(connection.transfers, op.ordinal);
  }
}

const openOp = (op: Op): OpenOp | undefined => op.drawing as OpenOp | undefined;

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
  const parent = parentText(op.parent);
  if (parent !== null) args.push(['parent', parent]);
  if (!op.ordinalAbsolute) args.push(['ordinalAbsolute', false]);
  return args;
}

function foreignArgs({ originator, of }: Op, pid: number): [string, ArgValue][] {
  const args: [string, ArgValue][] = [['for', originator?.process ?? `pid ${pid}, whose file is not here`]];
  if (of && of.seq !== null) args.push(['seq', of.seq]);
  return args;
}

const FINALIZED: readonly [string, ArgValue] = ['end', 'communicator finalized'];
const END_LOST: Args = [['end', 'not recorded, as its last step']];

function later(a: TraceNs, b: TraceNs): TraceNs {
  return a > b ? a : b;
}
