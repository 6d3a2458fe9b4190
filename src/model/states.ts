/**
 * What NCCL's event states do to a step, an op or a proxy thread. Numbers and order: NCCL's net transport
 * (send: 8, 20 repeated, 9, stop; receive: 10, 11, 12, stop). A state that comes again, or that does not belong to the
 * event, changes nothing and is counted.
 */

import type { Ticks } from '../base/time.js';
import { State } from '../format/nccl.js';
import type { StateFields } from './record_fields.js';
import {
  StepPhase,
  type Ctrl,
  type CtrlState,
  type Op,
  type Step,
  type Unplaced,
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

export function applyStepState(
  step: Step,
  { state, value }: StateFields,
  at: Ticks,
  listener: Partial<WorkListener>,
  unplaced: Unplaced,
): void {
  const phase = STEP_PHASE[state];
  if (phase === undefined) {
    unknownState(unplaced, 'ProxyStep', state);
    return;
  }
  if (state === State.SendPeerWait) {
    step.peerPolls++;
    step.lastPeerWait = at;
  }
  if (phase <= step.phase) {
    if (state !== State.SendPeerWait) unplaced.repeatedStates++;
    return;
  }
  if (state === State.SendWait || state === State.RecvFlushWait) {
    step.bytes = value;
    step.op.bytes = Math.min(step.op.bytes + (value ?? 0), Number.MAX_SAFE_INTEGER);
  }
  step.phase = phase;
  listener.stepPhase?.(step, phaseBegin(step, state, at), at);
}

/**
 * The send itself begins at the *last* poll before NCCL reports state 9: state 9 is stamped after isend returned, when
 * the data may long be there (measured: a preempted proxy thread stamps it after the receiver's state 11).
 */
function phaseBegin(step: Step, state: number, at: Ticks): Ticks {
  return state === State.SendWait ? (step.lastPeerWait ?? at) : at;
}

/** Polls that the recorder counted instead of recording. */
export function foldPeerWait(step: Step, state: number, polls: number, lastTick: Ticks): void {
  if (state !== State.SendPeerWait) return;
  step.peerPolls += polls;
  if (step.lastPeerWait === null || lastTick > step.lastPeerWait) step.lastPeerWait = lastTick;
}

export function applyOpState(
  op: Op,
  { state, value }: StateFields,
  at: Ticks,
  listener: Partial<WorkListener>,
  unplaced: Unplaced,
): void {
  const tellsProgress = state >= State.OpSendPosted && state <= State.OpRecvDone;
  if (state !== State.OpInProgress && !tellsProgress) {
    unknownState(unplaced, 'ProxyOp', state);
    return;
  }
  if (tellsProgress && value !== null) opProgress(op, value, at, listener);
}

/** Up to NCCL 2.26 steps have no sizes; their operation tells the bytes so far (states 0 to 7). */
function opProgress(op: Op, bytesSoFar: number, at: Ticks, listener: Partial<WorkListener>): void {
  const more = bytesSoFar - op.bytes;
  if (more <= 0) return;
  op.bytes = bytesSoFar;
  listener.opBytes?.(op, more, at);
}

export function applyCtrlState(
  ctrl: Ctrl,
  { state, value }: StateFields,
  at: Ticks,
  listener: Partial<WorkListener>,
  unplaced: Unplaced,
): void {
  const name = CTRL_STATE.get(state);
  if (name === undefined) unknownState(unplaced, 'ProxyCtrl', state);
  else listener.ctrl?.(ctrl.ring, name, at, name === 'AppendEnd' ? value : null);
}

/** A kernel has one state: it carries the GPU's stop stamp. */
export function isKernelStop({ state }: StateFields, unplaced: Unplaced): boolean {
  if (state === State.KernelChStop) return true;
  unknownState(unplaced, 'KernelCh', state);
  return false;
}

/**
 * By kind of host span, first and last: states that tell nothing its spans do not show. 23 and 24 mark the API calls
 * within a group; 25 to 30 begin and end what has a start and a stop of its own. (What 21 updates, and the GPU's stop
 * stamp of 31, are not drawn.)
 */
const HOST_STATES: Readonly<Record<string, readonly [number, number]>> = {
  GroupApi: [State.GroupStartApiStop, State.GroupEndApiStart],
  CeColl: [State.CeCollStart, State.CeBatchComplete],
  CeSync: [State.CeCollStart, State.CeBatchComplete],
  CeBatch: [State.CeCollStart, State.CeBatchComplete],
  NetPlugin: [State.NetPluginUpdate, State.NetPluginUpdate],
  KernelPhase: [State.KernelPhaseStop, State.KernelPhaseStop],
};

export function checkHostState(kind: string, { state }: StateFields, unplaced: Unplaced): void {
  const [first, last] = HOST_STATES[kind] ?? [0, -1];
  if (state < first || state > last) unknownState(unplaced, kind, state);
}

function unknownState(unplaced: Unplaced, event: string, state: number): void {
  const key = `${event} ${state}`;
  unplaced.unknownStates.set(key, (unplaced.unknownStates.get(key) ?? 0) + 1);
}
