/**
 * What NCCL's event states do to a step, an op or a proxy thread. Numbers and order: NCCL's net transport
 * (send: 8, 20 repeated, 9, stop; receive: 10, 11, 12, stop). A state that comes again, or that does not belong to the
 * event, changes nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { State } from '../rankfile/format/nccl.js';
import type { StateFields } from './record_fields.js';
import type { OddRecords } from './odd_records.js';
import {
  StepPhase,
  type Ctrl,
  type CtrlState,
  type HostSpan,
  type Op,
  type Step,
  type WorkListener,
} from './types.js';

/** Indexed by state: the most frequent look-up of all. */
const STEP_PHASE: readonly (StepPhase | undefined)[] = phasesByState([
  [State.SendGpuWait, StepPhase.SendGpuWait],
  [State.SendPeerWait, StepPhase.PeerWait],
  [State.SendWait, StepPhase.SendWait],
  [State.RecvWait, StepPhase.RecvWait],
  [State.RecvFlushWait, StepPhase.FlushWait],
  [State.RecvGpuWait, StepPhase.RecvGpuWait],
]);

function phasesByState(pairs: readonly (readonly [number, StepPhase])[]): (StepPhase | undefined)[] {
  const phases: (StepPhase | undefined)[] = [];
  for (let state = 0; state <= State.KernelChStop; state++) phases.push(undefined);
  for (const [state, phase] of pairs) phases[state] = phase;
  return phases;
}

const CTRL_STATE = new Map<number, CtrlState>([
  [State.CtrlIdle, 'Idle'],
  [State.CtrlActive, 'Active'],
  [State.CtrlSleep, 'Sleep'],
  [State.CtrlWakeup, 'Wakeup'],
  [State.CtrlAppend, 'Append'],
  [State.CtrlAppendEnd, 'AppendEnd'],
]);

/** Who is told what a state did: the listener of the pairing, and the count of what did nothing. */
export interface Told {
  readonly listener: Partial<WorkListener>;
  readonly odd: OddRecords;
}

export function applyStepState(step: Step, { state, value }: StateFields, at: Ticks, told: Told): void {
  const phase = STEP_PHASE[state];
  if (phase === undefined) {
    told.odd.unknownState('ProxyStep', state, at);
    return;
  }
  if (state === State.SendPeerWait) {
    step.peerPolls++;
    step.lastPeerWait = at;
  }
  if (phase <= step.phase) {
    if (state !== State.SendPeerWait) told.odd.stateAgain('ProxyStep', state, at);
    return;
  }
  if (state === State.SendWait || state === State.RecvFlushWait) {
    step.bytes = value;
    step.op.bytes = Math.min(step.op.bytes + (value ?? 0), Number.MAX_SAFE_INTEGER);
  }
  step.phase = phase;
  step.phaseSince = phaseBegin(step, state, at);
  step.op.lastMove = at;
  if (step.op.isSend) step.op.gpuBegan ??= phase > StepPhase.SendGpuWait ? at : null;
  else step.op.firstData ??= at;
  told.listener.stepPhase?.(step, step.phaseSince, at);
}

/**
 * The send itself begins at the *last* poll before NCCL reports state 9: state 9 is stamped after isend returned, when
 * the data may long be there (measured: a preempted proxy thread stamps it after the receiver's state 11).
 */
function phaseBegin(step: Step, state: number, at: Ticks): Ticks {
  return state === State.SendWait ? (step.lastPeerWait ?? at) : at;
}

/** Polls, or starts, that the recorder counted instead of recording. */
export function foldStep(step: Step, state: number | 'start', repeats: number, lastTick: Ticks): void {
  if (state === 'start') {
    step.startRepeats += repeats;
    step.lastStartRepeat = lastTick;
    return;
  }
  if (state !== State.SendPeerWait) return;
  step.peerPolls += repeats;
  if (step.lastPeerWait === null || lastTick > step.lastPeerWait) step.lastPeerWait = lastTick;
}

export function applyOpState(op: Op, { state, value }: StateFields, at: Ticks, told: Told): void {
  const tellsProgress = state >= State.OpSendPosted && state <= State.OpRecvDone;
  if (state !== State.OpInProgress && !tellsProgress) {
    told.odd.unknownState('ProxyOp', state, at);
    return;
  }
  if (tellsProgress && value !== null) opProgress(op, value, at, told.listener);
}

/** Up to NCCL 2.26 steps have no sizes; their operation tells the bytes so far (states 0 to 7). */
function opProgress(op: Op, bytesSoFar: number, at: Ticks, listener: Partial<WorkListener>): void {
  const more = bytesSoFar - op.bytes;
  if (more <= 0) return;
  op.bytes = bytesSoFar;
  listener.opBytes?.(op, more, at);
}

/** A state that is not known is shown by its number: the thread was in it. */
export function applyCtrlState(ctrl: Ctrl, { state, value }: StateFields, at: Ticks, told: Told): void {
  const name = CTRL_STATE.get(state);
  if (name === undefined) told.odd.unknownState('ProxyCtrl', state, at);
  told.listener.ctrl?.(ctrl.ring, name ?? `state ${state}`, at, name === 'AppendEnd' ? value : null);
}

/**
 * By kind of host span, first and last: states that tell nothing its spans do not show. 23 follows the start at once and
 * 24 begins the GroupEnd; 25 to 30 begin and end what has a start and a stop of its own.
 */
const HOST_STATES: Readonly<Partial<Record<HostSpan['kind'], readonly [number, number]>>> = {
  GroupApi: [State.GroupStartApiStop, State.GroupEndApiStart],
  CeColl: [State.CeCollStart, State.CeBatchComplete],
  CeSync: [State.CeCollStart, State.CeBatchComplete],
  CeBatch: [State.CeCollStart, State.CeBatchComplete],
  NetPlugin: [State.NetPluginUpdate, State.NetPluginUpdate],
};

export function isHostState(kind: HostSpan['kind'], state: number): boolean {
  const [first, last] = HOST_STATES[kind] ?? [0, -1];
  return state >= first && state <= last;
}
