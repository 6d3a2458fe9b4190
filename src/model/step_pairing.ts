/**
 * Pairs the records of steps: start, states, repeats and stop of a transfer become a row of the step table, and a listener gets what
 * happened, in batches. States are those of NCCL's net transport (send: 8, 20 repeated, 9, stop; receive: 10, 11, 12, stop). A repeated
 * state, or one that does not belong to a step, changes nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { Kind, MAX_RINGS } from '../rankfile/format/constants.js';
import { State } from '../rankfile/format/nccl.js';
import type { RecordColumns } from '../rankfile/types.js';
import type { OddRecords } from './odd_records.js';
import { foldOf, readState, type Repeats, type StateFields } from './record_fields.js';
import { LEFT, StepEvents, STARTED, STOPPED, type StepListener } from './step_events.js';
import { NO_STEP, NONE, StepTable } from './step_table.js';
import { StepPhase, type Op } from './types.js';

/** By state; 0: not a step's state. This is the most frequent look-up. */
const PHASE_OF_STATE = new Uint8Array(256);
PHASE_OF_STATE[State.SendGpuWait] = StepPhase.SendGpuWait;
PHASE_OF_STATE[State.SendPeerWait] = StepPhase.PeerWait;
PHASE_OF_STATE[State.SendWait] = StepPhase.SendWait;
PHASE_OF_STATE[State.RecvWait] = StepPhase.RecvWait;
PHASE_OF_STATE[State.RecvFlushWait] = StepPhase.FlushWait;
PHASE_OF_STATE[State.RecvGpuWait] = StepPhase.RecvGpuWait;

/** What step pairing needs from the pairing of all other events. */
export interface Surroundings {
  /** The operation that a start names, or its stand-in. */
  opOf(ring: number, records: RecordColumns, i: number): Op;
  /** Takes a record that belongs to no step in flight. */
  other(ring: number, records: RecordColumns, i: number): void;
  readonly tag17: number;
  readonly tickBase: bigint;
}

const TWO_31 = 2 ** 31;

export class StepPairing {
  readonly table = new StepTable();
  /** Records with an earlier tick than the record before them in the ring. They get that record's time. */
  reordered = 0;
  private readonly newest = new Float64Array(MAX_RINGS);
  private readonly events = new StepEvents();
  /** The tick of the current record. It lies in an array, because V8 makes an object of each number that a call passes on. */
  private readonly time = new Float64Array(1);
  private readonly stateFields: StateFields = { state: 0, value: null };

  constructor(
    private readonly listener: Partial<StepListener>,
    private readonly odd: OddRecords,
    private readonly around: Surroundings,
  ) {}

  /** Tick of the record that is read. */
  get now(): Ticks {
    return this.time[0] as Ticks;
  }

  /** The loop for four of five records. Rare cases have functions of their own, so that V8 compiles the loop as one piece. */
  read(ring: number, records: RecordColumns, from: number, end: number): void {
    const { table, time } = this;
    const { kind, tick, word1Low, word1High, word2Low, extraStart } = records;
    let newest = this.newest[ring]!;
    for (let i = from; i < end; i++) {
      if (tick[i]! < newest) this.reordered++;
      else newest = tick[i]!;
      time[0] = newest;
      const what = kind[i]!;
      if (what === Kind.StartProxyStep) {
        this.start(ring, records, i);
        continue;
      }
      const isOfEvent = what === Kind.State || what === Kind.Stop || what === Kind.Fold;
      const row = isOfEvent ? table.find(word1Low[i]!, word1High[i]!) : NO_STEP;
      if (row < 0) this.unpaired(row, ring, records, i);
      else if (what === Kind.Fold) this.addRepeats(row, foldOf(records, i, this.around.tickBase));
      else if (what === Kind.Stop) {
        table.forget(word1Low[i]!, word1High[i]!);
        this.stop(row, STOPPED);
      } else {
        const isLong = extraStart[i + 1]! > extraStart[i]!;
        const phase = PHASE_OF_STATE[isLong ? word2Low[i]! : word2Low[i]! & 0xffff] ?? 0;
        const before = table.phase[row]!;
        if (phase === StepPhase.PeerWait && before <= StepPhase.PeerWait) {
          table.polls[row]!++;
          table.lastPoll[row] = newest;
          if (before === StepPhase.PeerWait) continue;
        }
        if (phase > before) this.enter(row, phase, records, i);
        else this.unusedState(phase, records, i);
      }
    }
    this.newest[ring] = newest;
    this.flush();
  }

  /** Reports the events so far to the listener, before anything else is reported. */
  flush(): void {
    if (this.events.length === 0) return;
    this.listener.steps?.(this.table, this.events);
    this.events.length = 0;
    this.table.reuse();
  }

  private start(ring: number, records: RecordColumns, i: number): void {
    const { table, around } = this;
    const op = around.opOf(ring, records, i);
    const number = records.word2High[i]! | 0;
    const position = records.position[i]!;
    const low = ((position % TWO_31) * 2) >>> 0;
    const high = ((around.tag17 << 15) | (ring << 9) | (Math.floor(position / TWO_31) & 0x1ff)) >>> 0;
    const same = table.openStepOf(op, number);
    if (same !== NO_STEP) {
      // A repeated start of a registered buffer that was not folded: both handles mean the same transfer.
      table.startRepeats[same]!++;
      table.lastStartRepeat[same] = this.now;
      table.name(low, high, same);
      return;
    }
    const row = table.add(low, high, op, number, this.now);
    op.openSteps.push(row);
    op.lastMove = this.now;
    this.add(STARTED, row, this.now);
  }

  private enter(row: number, phase: number, records: RecordColumns, i: number): void {
    const { table } = this;
    const at = this.now;
    const op = table.op[row]!;
    let from = at;
    if (phase === StepPhase.SendWait || phase === StepPhase.FlushWait) {
      readState(records, i, this.stateFields);
      const { value } = this.stateFields;
      table.bytes[row] = value ?? NONE;
      op.bytes = Math.min(op.bytes + (value ?? 0), Number.MAX_SAFE_INTEGER);
      if (phase === StepPhase.FlushWait) {
        table.arrived[row] = at;
        op.firstData ??= at;
        op.lastData = at;
      } else if (table.lastPoll[row] !== NONE) {
        // The send itself begins at the *last* poll before NCCL reports state 9. State 9 is stamped after isend returned, when the data
        // may have arrived already (measured: a preempted proxy thread stamps it after the receiver's state 11).
        from = table.lastPoll[row] as Ticks;
      }
    }
    table.phase[row] = phase;
    table.phaseSince[row] = from;
    op.lastMove = at;
    if (op.isSend && phase > StepPhase.SendGpuWait) op.gpuBegan ??= at;
    this.add(phase, row, from);
  }

  /** `what` happened now; `from`: begin of the phase. */
  private add(what: number, row: number, from: number): void {
    this.events.add(what, row, this.time[0]!, from);
    if (this.events.isFull) this.flush();
  }

  /** A record that moves no step in flight. */
  private unpaired(row: number, ring: number, records: RecordColumns, i: number): void {
    if (row === NO_STEP) {
      this.flush();
      this.around.other(ring, records, i);
    } else if (records.kind[i] !== Kind.Fold) {
      const isStop = records.kind[i] === Kind.Stop;
      this.odd.afterStop('ProxyStep', isStop ? null : this.stateOf(records, i), this.now);
    }
  }

  private unusedState(phase: number, records: RecordColumns, i: number): void {
    const state = this.stateOf(records, i);
    if (phase === 0) this.odd.unknownState('ProxyStep', state, this.now);
    else this.odd.stateAgain('ProxyStep', state, this.now);
  }

  private stateOf(records: RecordColumns, i: number): number {
    readState(records, i, this.stateFields);
    return this.stateFields.state;
  }

  /** Polls or starts that the recorder counted instead of recording. */
  addRepeats(row: number, { state, count, lastTick }: Repeats): void {
    const { table } = this;
    // The events that wait for the listener came before these repeats.
    if (table.phase[row]! > StepPhase.PeerWait) this.flush();
    if (state === 'start') {
      table.startRepeats[row]! += count;
      table.lastStartRepeat[row] = lastTick;
    } else if (state === State.SendPeerWait) {
      table.polls[row]! += count;
      if (lastTick > table.lastPoll[row]!) table.lastPoll[row] = lastTick;
    }
  }

  /** Its operation stopped without it. */
  leave(row: number, at: Ticks): void {
    this.time[0] = at;
    this.stop(row, LEFT);
  }

  /** The step is over as of now. */
  private stop(row: number, how: typeof STOPPED | typeof LEFT): void {
    const { table } = this;
    const at = this.now;
    const op = table.op[row]!;
    op.stepsDone++;
    op.lastMove = at;
    if (!op.isSend) op.gpuBegan ??= at;
    table.end(row);
    this.add(how, row, at);
    // A stand-in ends when it has done a known number of steps.
    if (op.lost) this.flush();
  }
}
