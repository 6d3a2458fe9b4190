/**
 * Pairs the records of steps: start, states, repeats and stop of a transfer become a row of the step table, and a listener is called.
 * States are those of NCCL's net transport (send: 8, 20 repeated, 9, stop; receive: 10, 11, 12, stop). A repeated state, or one that does
 * not belong to a step, changes nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { State } from '../rankfile/format/nccl.js';
import type { OddRecords } from './odd_records.js';
import type { StateFields } from './record_fields.js';
import { type StepListener, NO_STEP, NONE, StepTable } from './step_table.js';
import { StepPhase, type Op } from './types.js';

/** By state; 0: not a step's state. The most frequent look-up of all. */
const PHASE_OF_STATE = new Uint8Array(256);
PHASE_OF_STATE[State.SendGpuWait] = StepPhase.SendGpuWait;
PHASE_OF_STATE[State.SendPeerWait] = StepPhase.PeerWait;
PHASE_OF_STATE[State.SendWait] = StepPhase.SendWait;
PHASE_OF_STATE[State.RecvWait] = StepPhase.RecvWait;
PHASE_OF_STATE[State.RecvFlushWait] = StepPhase.FlushWait;
PHASE_OF_STATE[State.RecvGpuWait] = StepPhase.RecvGpuWait;

export class StepPairing {
  readonly table = new StepTable();

  constructor(
    private readonly listener: Partial<StepListener>,
    private readonly odd: OddRecords,
  ) {}

  /** `low`, `high`: its handle. */
  start(low: number, high: number, op: Op, number: number, at: Ticks): void {
    const { table } = this;
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

  state(row: number, { state, value }: StateFields, at: Ticks): void {
    const { table } = this;
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
      if (phase === StepPhase.FlushWait) table.arrived[row] = at;
    }
    const from = phase === StepPhase.SendWait ? sendBegan(table, row, at) : at;
    table.phase[row] = phase;
    table.phaseSince[row] = from;
    op.lastMove = at;
    if (!op.isSend) op.firstData ??= at;
    else if (phase > StepPhase.SendGpuWait) op.gpuBegan ??= at;
    this.listener.stepPhase?.(table, row, from, at);
  }

  /** Polls or starts that the recorder counted instead of recording. */
  fold(row: number, state: number | 'start', repeats: number, lastTick: Ticks): void {
    const { table } = this;
    if (state === 'start') {
      table.startRepeats[row]! += repeats;
      table.lastStartRepeat[row] = lastTick;
    } else if (state === State.SendPeerWait) {
      table.polls[row]! += repeats;
      if (lastTick > table.lastPoll[row]!) table.lastPoll[row] = lastTick;
    }
  }

  /** `told`: by its own stop; else its operation stopped. */
  stop(row: number, at: Ticks, told: boolean): void {
    const { table } = this;
    const op = table.op[row]!;
    op.stepsDone++;
    op.lastMove = at;
    if (!op.isSend) op.gpuBegan ??= at;
    table.end(row);
    this.listener.stepStop?.(table, row, at, told);
  }
}

/**
 * The send itself begins at the *last* poll before NCCL reports state 9. State 9 is stamped after isend returned, when the data may have
 * arrived already (measured: a preempted proxy thread stamps it after the receiver's state 11).
 */
function sendBegan({ lastPoll }: StepTable, row: number, at: Ticks): Ticks {
  return lastPoll[row] === NONE ? at : (lastPoll[row] as Ticks);
}
