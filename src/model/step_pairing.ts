/**
 * Pairs the records of steps: start, states, repeats and stop of a transfer become a row of the step table, and a listener is called.
 * States are those of NCCL's net transport (send: 8, 20 repeated, 9, stop; receive: 10, 11, 12, stop). A repeated state, or one that does
 * not belong to a step, changes nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { Kind, MAX_RINGS } from '../rankfile/format/constants.js';
import { State } from '../rankfile/format/nccl.js';
import type { RecordColumns } from '../rankfile/types.js';
import type { OddRecords } from './odd_records.js';
import { foldOf, readState, type Repeats, type StateFields } from './record_fields.js';
import { type StepListener, ENDED_STEP, NO_STEP, NONE, StepTable } from './step_table.js';
import { StepPhase, type Op } from './types.js';

/** By state; 0: not a step's state. The most frequent look-up of all. */
const PHASE_OF_STATE = new Uint8Array(256);
PHASE_OF_STATE[State.SendGpuWait] = StepPhase.SendGpuWait;
PHASE_OF_STATE[State.SendPeerWait] = StepPhase.PeerWait;
PHASE_OF_STATE[State.SendWait] = StepPhase.SendWait;
PHASE_OF_STATE[State.RecvWait] = StepPhase.RecvWait;
PHASE_OF_STATE[State.RecvFlushWait] = StepPhase.FlushWait;
PHASE_OF_STATE[State.RecvGpuWait] = StepPhase.RecvGpuWait;

/** What pairing knows of everything else. */
export interface Surroundings {
  /** The operation that a start names, or its stand-in. */
  opOf(ring: number, records: RecordColumns, i: number, at: Ticks): Op;
  /** Takes a record that belongs to no step in flight. */
  other(ring: number, records: RecordColumns, i: number): void;
  readonly tag17: number;
  readonly tickBase: bigint;
}

const TWO_31 = 2 ** 31;

export class StepPairing {
  readonly table = new StepTable();
  /** Records with an earlier tick than the record before them in the ring. They count as of that record's time. */
  reordered = 0;
  private readonly newest = new Float64Array(MAX_RINGS);
  private readonly stateFields: StateFields = { state: 0, value: null };

  constructor(
    private readonly listener: Partial<StepListener>,
    private readonly odd: OddRecords,
    private readonly around: Surroundings,
  ) {}

  /** The loop that four of five records go through. */
  read(ring: number, records: RecordColumns, from: number, end: number): void {
    const { table, around } = this;
    const { kind, tick, word1Low, word1High } = records;
    let newest = this.newest[ring]!;
    for (let i = from; i < end; i++) {
      if (tick[i]! < newest) this.reordered++;
      else newest = tick[i]!;
      const at = newest as Ticks;
      const what = kind[i]!;
      if (what === Kind.StartProxyStep) {
        this.start(ring, records, i, at);
        continue;
      }
      const isOfEvent = what === Kind.State || what === Kind.Stop || what === Kind.Fold;
      const row = isOfEvent ? table.find(word1Low[i]!, word1High[i]!) : NO_STEP;
      if (row === NO_STEP) around.other(ring, records, i);
      else if (what === Kind.State) this.state(row, records, i, at);
      else if (what === Kind.Fold) this.fold(row, records, i);
      else if (row === ENDED_STEP) this.odd.afterStop('ProxyStep', null, at);
      else {
        table.forget(word1Low[i]!, word1High[i]!);
        this.stop(row, at, true);
      }
    }
    this.newest[ring] = newest;
  }

  private start(ring: number, records: RecordColumns, i: number, at: Ticks): void {
    const { table, around } = this;
    const op = around.opOf(ring, records, i, at);
    const number = records.word2High[i]! | 0;
    const position = records.position[i]!;
    const low = ((position % TWO_31) * 2) >>> 0;
    const high = ((around.tag17 << 15) | (ring << 9) | (Math.floor(position / TWO_31) & 0x1ff)) >>> 0;
    const same = table.openStepOf(op, number);
    if (same !== NO_STEP) {
      // A repeated start of a registered buffer that was not folded: both handles mean the same transfer.
      table.startRepeats[same]!++;
      table.lastStartRepeat[same] = at;
      table.name(low, high, same);
      return;
    }
    const row = table.add(low, high, op, number, at);
    op.openSteps.push(row);
    op.lastMove = at;
    this.listener.stepStart?.(table, row, at);
  }

  private state(row: number, records: RecordColumns, i: number, at: Ticks): void {
    const { table, stateFields } = this;
    readState(records, i, stateFields);
    const { state, value } = stateFields;
    if (row === ENDED_STEP) {
      this.odd.afterStop('ProxyStep', state, at);
      return;
    }
    const phase = PHASE_OF_STATE[state] ?? 0;
    if (phase === 0) {
      this.odd.unknownState('ProxyStep', state, at);
      return;
    }
    if (phase === StepPhase.PeerWait) {
      table.polls[row]!++;
      table.lastPoll[row] = at;
    }
    if (phase <= table.phase[row]!) {
      if (phase !== StepPhase.PeerWait) this.odd.stateAgain('ProxyStep', state, at);
      return;
    }
    const op = table.op[row]!;
    if (phase === StepPhase.SendWait || phase === StepPhase.FlushWait) {
      table.bytes[row] = value ?? NONE;
      op.bytes = Math.min(op.bytes + (value ?? 0), Number.MAX_SAFE_INTEGER);
      if (phase === StepPhase.FlushWait) {
        table.arrived[row] = at;
        op.firstData ??= at;
        op.lastData = at;
      }
    }
    const from = phase === StepPhase.SendWait ? sendBegan(table, row, at) : at;
    table.phase[row] = phase;
    table.phaseSince[row] = from;
    op.lastMove = at;
    if (op.isSend && phase > StepPhase.SendGpuWait) op.gpuBegan ??= at;
    this.listener.stepPhase?.(table, row, from, at);
  }

  private fold(row: number, records: RecordColumns, i: number): void {
    if (row !== ENDED_STEP) this.addRepeats(row, foldOf(records, i, this.around.tickBase));
  }

  /** Polls or starts that the recorder counted instead of recording. */
  addRepeats(row: number, { state, count, lastTick }: Repeats): void {
    const { table } = this;
    if (state === 'start') {
      table.startRepeats[row]! += count;
      table.lastStartRepeat[row] = lastTick;
    } else if (state === State.SendPeerWait) {
      table.polls[row]! += count;
      if (lastTick > table.lastPoll[row]!) table.lastPoll[row] = lastTick;
    }
  }

  /** `byItself`: NCCL stopped the step. Otherwise its operation stopped. */
  stop(row: number, at: Ticks, byItself: boolean): void {
    const { table } = this;
    const op = table.op[row]!;
    op.stepsDone++;
    op.lastMove = at;
    if (!op.isSend) op.gpuBegan ??= at;
    table.end(row);
    this.listener.stepStop?.(table, row, at, byItself);
  }
}

/**
 * The send itself begins at the *last* poll before NCCL reports state 9. State 9 is stamped after isend returned, when the data may have
 * arrived already (measured: a preempted proxy thread stamps it after the receiver's state 11).
 */
function sendBegan({ lastPoll }: StepTable, row: number, at: Ticks): Ticks {
  return lastPoll[row] === NONE ? at : (lastPoll[row] as Ticks);
}
