/**
 * Connections: per channel, direction and peer one track of proxy operations (in lanes: a later operation is appended while the one before
 * still runs), and below it the step slots (steps.ts).
 */

import { Op } from '../event';
import { OpenSet } from '../open_set';
import { CommGroups } from './comm_groups';
import { Connection, Slots } from './connection';
import { Connections } from './connections';
import { FlowCensus } from './flow_census';
import { operationId, operationNumber, workCorrelation } from './identity';
import { InFlight } from './in_flight';
import { Origins } from './origins';
import { Sink } from './sink';
import { Text } from './text';
import { parentText } from './words';

export class Ops {
  /** Steps of the stand-ins without a stop: their number, after which they end; 0: the stop is in the file, or a step is in flight. */
  standInSteps: StaticArray<u32> = new StaticArray<u32>(0);
  /** Connections without arrows from the operation with this ordinal on. */
  readonly outOfStep: Map<u64, f64> = new Map<u64, f64>();
  private readonly connections: Connections;
  private readonly open: OpenSet<Op> = new OpenSet<Op>();

  constructor(
    private readonly sink: Sink,
    groups: CommGroups,
    private readonly flows: FlowCensus,
    private readonly inFlight: InFlight,
    private readonly origins: Origins,
  ) {
    this.connections = new Connections(sink, groups);
  }

  started(op: Op, at: f64): void {
    const sink = this.sink;
    const texts = sink.texts;
    const isEndless = this.origins.neverEnds(op);
    const connection = this.connections.of(op, isEndless);
    if (isEndless) {
      op.isEndless = true;
      const track = connection.track(0);
      this.addArgs(op);
      sink.text(texts.fixed('end'), texts.fixed('not reported by NCCL (CollNet or memcpy)'));
      sink.correlate(this.correlationOf(op));
      sink.instant(track, at, texts.fixed('proxy op'));
      return;
    }
    const lane = connection.lanes.acquire(at);
    const track = connection.track(lane);
    this.addArgs(op);
    sink.correlate(this.correlationOf(op));
    op.slice = sink.begin(track, at, texts.fixed(nameOf(op)));
    op.lane = lane;
    op.drawnAt = at;
    op.connection = connection;
    op.slotSet = -1;
    op.slots = null;
    op.flow = this.flowOf(op, connection);
    if (op.flow != 0) op.flowRow = this.flows.begin(operationNumber(op.flow), op.isSend ? 1 : 0);
    this.open.add(op);
    this.inFlight.opStarted(op, at);
    if (op.isLost) this.alive(op);
  }

  alive(op: Op): void {
    const connection = op.connection;
    if (connection === null) return;
    op.slotSet = connection.slotSets.acquire();
    op.slots = connection.slotsOf(op.slotSet);
  }

  stopped(op: Op, at: f64): void {
    if (op.connection === null) return;
    this.inFlight.opEnded(op, at);
    this.end(op, at, '');
  }

  /** A stand-in without a stop ends with its last step, which frees its lane. */
  standInStep(op: Op, at: f64): void {
    if (op.connection === null || op.standIn >= this.standInSteps.length) return;
    if (<u32>op.stepsDone != this.standInSteps[op.standIn]) return;
    this.cut(op, at, 'not recorded, as its last step');
  }

  /** Those that have not ended. */
  unfinished(): Op[] {
    return this.open.all();
  }

  /** `why`: NCCL did not stop it. */
  cut(op: Op, at: f64, why: string): void {
    this.inFlight.opEnded(op, at);
    this.end(op, at, why);
  }

  /** For steps of an operation without a place. */
  spareSlots(op: Op): Slots {
    return this.connections.of(op, this.origins.neverEnds(op)).slotsOf(0);
  }

  /** `end`: why it ended, if NCCL did not stop it; ''. */
  private end(op: Op, at: f64, end: string): void {
    const connection = op.connection!;
    const sink = this.sink;
    op.connection = null;
    op.slots = null;
    op.flow = 0;
    this.open.delete(op);
    const until = max(op.drawnAt, at);
    sink.number(sink.texts.fixed('bytes'), op.bytes);
    if (end != '') sink.text(sink.texts.fixed('end'), sink.texts.fixed(end));
    sink.end(connection.track(op.lane), until, op.slice);
    connection.lanes.release(op.lane, until);
    if (op.slotSet >= 0) connection.slotSets.release(op.slotSet);
  }

  private flowOf(op: Op, connection: Connection): u64 {
    const transfers = connection.transfers;
    if (transfers == 0 || !op.isOrdinalAbsolute) return 0;
    const outOfStep = this.outOfStep;
    if (outOfStep.size > 0 && outOfStep.has(transfers) && <f64>op.ordinal >= outOfStep.get(transfers))
      return 0;
    return operationId(transfers, op.ordinal);
  }

  /** The id of the operation's work, which may be the work of the process that it is executed for. */
  private correlationOf(op: Op): f64 {
    if (op.isForeign) return this.origins.correlationOf(op);
    const work = op.work;
    return work === null ? 0 : workCorrelation(work);
  }

  private addArgs(op: Op): void {
    const sink = this.sink;
    const texts = sink.texts;
    if (op.isLost) {
      sink.text(texts.fixed('start'), texts.fixed('overwritten in the ring'));
      return;
    }
    sink.text(texts.fixed('op'), this.funcOf(op));
    sink.number(texts.fixed('ordinal'), op.ordinal);
    sink.number(texts.fixed('nSteps'), op.nSteps);
    sink.number(texts.fixed('chunkSize'), op.chunkSize);
    if (op.isForeign) this.origins.addArgs(sink, op);
    const parent = parentText(op.link);
    if (parent != '') sink.text(texts.fixed('parent'), texts.fixed(parent));
    if (!op.isOrdinalAbsolute) sink.flag(texts.fixed('ordinalAbsolute'), false);
  }

  private funcOf(op: Op): Text {
    const texts = this.sink.texts;
    if (op.isForeign) return this.origins.funcOf(op, texts);
    const work = op.work;
    return work === null ? texts.fixed('unknown') : texts.ofFile(work.func);
  }
}

/** An endless operation's direction is not known. */
function nameOf(op: Op): string {
  if (op.isLost) return 'began before the window';
  return op.isSend ? 'proxy send' : 'proxy recv';
}
